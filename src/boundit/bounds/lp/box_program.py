"""One program for all boxes of a branch and bound over chances of scenarios.

A scenario is a combination of levels of the instruments. The mass of a cell in it is its chance
times the share of the response types that run into the cell; where the chance lies in a box,
the mass lies between the box's ends times the share. From box to box only these ends change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TypeAlias, final

import numpy as np

from boundit.bounds.lp.branch_and_bound import ProbabilityBox
from boundit.bounds.lp.population import SUMS, ProgramRows
from boundit.bounds.lp.program import Optimum
from boundit.counts.named_array import Floats
from boundit.terms.long_work import TimeBudget

_Coefficients: TypeAlias = list[tuple[int, int, float]]
"""Places in a program that hold an end of a chance: row, column, and how many times the end."""


@final
class BoxProgram:
    """The program of all boxes: from box to box only the ends of chances change.

    The share of types in each cell has a column of its own, so that an end of a chance stands
    in few places, and each search starts where that of the last box ended. Made by
    ``ReweightedProgram`` for its objective; with ``tops``, the greatest share of each cell,
    products of chances and shares have two planes more (McCormick 1976).
    """

    def __init__(
        self,
        rows: ProgramRows,
        everyone: Floats,
        cells: Sequence[tuple[Floats, Floats]],
        tops: Sequence[Sequence[float]] | None = None,
        *,
        least: float,
    ) -> None:
        shares = [share for _, types in cells for share in types]
        self.n_own, self.n_more = rows.n_columns, len(shares) + 1
        wider = rows.widen(*shares, everyone)
        # Of each scenario: the places of its lower end in the program, and of its upper end.
        self._places: list[tuple[_Coefficients, _Coefficients]] = []
        column, last = self.n_own, self.n_own + len(shares)
        for scenario, (masses, _) in enumerate(cells):
            lows, highs = list[tuple[int, int, float]](), list[tuple[int, int, float]]()
            chance = masses.sum(axis=0)
            for cell, mass in enumerate(masses):
                for ends, lower, upper in ((lows, 0.0, inf), (highs, -inf, 0.0)):
                    ends.append((len(wider.rows), column, -1.0))
                    wider.add(self._lengthen(mass, {column: -1.0}), lower, upper)
                if tops is not None:
                    top = tops[scenario][cell]
                    for ends, lower, upper in ((highs, 0.0, inf), (lows, -inf, 0.0)):
                        ends += [
                            (len(wider.rows), column, -1.0),
                            (len(wider.rows), last, top),
                        ]
                        plane = self._lengthen(mass - top * chance, {column: -1.0, last: 1.0})
                        wider.add(plane, lower, upper)
                column += 1
            self._places.append((lows, highs))
        # Types, shares of each scenario, and of everyone.
        self._program = wider.make_program((SUMS + len(cells) + 2) / least)

    def _lengthen(self, form: Floats, more: Mapping[int, float]) -> Floats:
        """Lengthen coefficients by those of some of the columns that were added."""
        found = np.concatenate([form, np.zeros(self.n_more)])
        found[list(more)] = list(more.values())
        return found

    def prove_end(self, aim: Floats, box: ProbabilityBox, budget: TimeBudget) -> Optimum:
        """Set the ends of chances, solve for the greatest ``aim``, and prove the end.

        The answer's point has the columns of the objective alone.
        """
        for places, *ends in zip(self._places, *box, strict=True):
            for coefficients, end in zip(places, ends, strict=True):
                for row, column, times in coefficients:
                    self._program.set_coefficient(row, column, times * float(end))
        found = self._program.maximise(self._lengthen(aim, {}), seconds=budget.count_seconds())
        return replace(found, point=found.point[: self.n_own])

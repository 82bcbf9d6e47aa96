"""Everything that a whole table chooses, written down while it is made from a log of rows.

The rows that choose are fixed here, so that two logs that differ in the rewards of the others
have the same pilot: in the package a hash of all counts draws it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import boundit as bd
from boundit.bounds import assemble
from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.claims import claim_finder, pilot
from boundit.bounds.claims.box_claims import BestClaims
from boundit.bounds.claims.claim_finder import share_error
from boundit.bounds.claims.few_cells import share_few
from boundit.bounds.claims.programs.program_claims import ProgramClaims
from boundit.bounds.claims.ratio_claims import RatioClaims
from boundit.bounds.claims.selection.selection_cells import SelectionCells
from boundit.bounds.claims.selection.selection_claims import SelectionClaims
from boundit.bounds.claims.sum_claims import SumClaims

Codes = NDArray[np.int64]
CHOOSERS = (SumClaims, BestClaims, RatioClaims, ProgramClaims, SelectionClaims)


@dataclass(frozen=True)
class Rows:
    """Rows of a log by column, the outcome's last, and the group that each is drawn into.

    Those of group 0 are the pilot; as many groups follow as are drawn from the rest.
    """

    names: tuple[str, ...]
    values: Codes
    groups: Codes

    def permute_rewards(self, rng: np.random.Generator, group: int) -> "Rows":
        """Permute the rewards of the rows of one group and all after it."""
        values, late = self.values.copy(), self.groups >= group
        values[late, -1] = rng.permutation(values[late, -1])
        return Rows(self.names, values, self.groups)

    def move_rewards(self, rng: np.random.Generator) -> "Rows":
        """Give the pilot other rewards."""
        values, own = self.values.copy(), self.groups == 0
        values[own, -1] = rng.integers(0, 2, own.sum())
        return Rows(self.names, values, self.groups)

    def thin(
        self, source: BinaryReward, _chance: float, _rng: np.random.Generator
    ) -> tuple[BinaryReward, BinaryReward]:
        """Draw the next group of what is left, in the place of the package's ``thin``."""
        left = int(source.table.rows)
        group = next(g for g in range(9) if (self.groups >= g).sum() <= left)
        table = source.table
        order = [self.names.index(name) for name in table.variables]
        drawn = self.values[self.groups == group]
        won, lost = np.zeros(len(table.n)), np.zeros(len(table.n))
        for line, codes in enumerate(table.codes):
            levels = [table.levels[n][c] for n, c in zip(table.variables, codes, strict=True)]
            here = (drawn[:, order] == levels).all(axis=1)
            won[line] = (drawn[here, -1] == 1).sum()
            lost[line] = here.sum() - won[line]
        assert table.sums is not None
        most = table.sums
        return tuple(  # type: ignore[return-value]
            BinaryReward(
                pilot._count_again(table, a, b, source.low, source.high),
                source.outcome,
                source.low,
                source.high,
            )
            for a, b in ((won, lost), (most - won, table.n - most - lost))
        )


def list_numbers(chosen: object) -> Iterator[np.ndarray]:
    """List all numbers that a choice holds, but not the cells that will be bet on."""
    match chosen:
        case SelectionCells():
            return
        case np.ndarray() | float() | int() | bool():
            yield np.asarray(chosen)
        case Mapping():
            for each in chosen.values():
                yield from list_numbers(each)
        case list() | tuple():
            for each in chosen:
                yield from list_numbers(each)
        case _:
            for each in fields(chosen) if is_dataclass(chosen) else ():
                yield from list_numbers(getattr(chosen, each.name))


def record_choices(
    rows: Rows, graph: str, query: str, monkeypatch: pytest.MonkeyPatch, **facts: object
) -> list[np.ndarray]:
    """Bound a log; list what was chosen for it: shares of the error, scales, multipliers."""
    found = list[np.ndarray]()
    with monkeypatch.context() as patch:
        patch.setattr(pilot, "thin", rows.thin)
        for kind in CHOOSERS:
            patch.setattr(kind, "choose", _note(kind.choose, found))
        patch.setattr(assemble, "share_few", _note(share_few, found, "row_errors"))
        patch.setattr(claim_finder, "share_error", _note(share_error, found))
        columns = dict(zip(rows.names, rows.values.T, strict=True))
        bd.derive_bounds(bd.parse_graph(graph), query, bd.read_log(columns), **facts)  # type: ignore[arg-type]
    return found


def _note(made: Any, found: list[np.ndarray], part: str | None = None) -> Any:
    """Make a function note the numbers that it returns."""

    def call(*args: Any, **named: Any) -> Any:
        chosen = made(*args, **named)
        found.extend(list_numbers(getattr(chosen, part) if part else chosen))
        return chosen

    return call

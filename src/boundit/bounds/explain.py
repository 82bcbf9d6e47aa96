"""The numbers a row was made from: cells, natural shares, and the population at an endpoint."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.caveats import LIMITS
from boundit.bounds.chain import Chain, Known, Natural, Reweighted, Run, Tilted, bound_cells
from boundit.bounds.evidence import Evidence
from boundit.bounds.inference import Endpoints
from boundit.bounds.inference.base import Rule
from boundit.bounds.linear_program import SolveStatus
from boundit.bounds.models.rule import ModelRule
from boundit.core.formula import Line, Sentence, Term, Variable
from boundit.core.message import format_count
from boundit.core.names import Nodes, sort_names
from boundit.core.rounding import choose_decimals
from boundit.counts.named_array import NamedArray
from boundit.results.sampling import EndSampling, HeavyCell, RowSampling

Place = tuple[int, ...]
MOST_EXPLAINED, MOST_SAMPLED = 5_000, 1_000
"""Up to how many rows a table explains row by row, with cells and with sampling error."""
MOST_CELLS = 1_000
"""Of more cells behind a row, none is listed."""
MOST_UNSEEN = 1_000_000
MOST_KINDS = 8
"""How many kinds of rows of a population are shown, those furthest from the log first."""
_NEAR = 1e-6


class Explainer:
    """Explains the endpoints of one table, by the estimates of the rules that gave them."""

    def __init__(self, evidence: Evidence, endpoints: Endpoints, estimates: Endpoints) -> None:
        self.evidence, self.endpoints, self.estimates = evidence, endpoints, estimates
        self.table = evidence.log.table
        self.axes = evidence.query.treatments + evidence.query.context
        rows = prod(evidence.shape)
        self._is_small, self._is_sampled = rows <= MOST_EXPLAINED, rows <= MOST_SAMPLED
        self._marginals: dict[Nodes, NamedArray] = {}
        self._last: tuple[object, tuple[Line, ...]] = (None, ())
        self._cells = dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]()

    def list_numbers(self, which: int, place: Place, *, upper: bool) -> tuple[Line, ...]:
        """The numbers from which rule number ``which`` made an endpoint, a line each.

        None for the whole range, in large tables, and when time is over.
        """
        if which < 0 or not self._is_small or self.evidence.workspace.budget.is_over():
            return ()
        rule = self.endpoints.rules[which]
        place = self.endpoints.find_source(rule, place, upper=upper)
        try:
            return tuple(self._list_lines(rule, place, upper=upper))
        except LIMITS:  # a reason less, but the endpoint holds
            return ()

    def _list_lines(self, rule: Rule, place: Place, *, upper: bool) -> Iterator[Line]:
        run = self.estimates.run
        if isinstance(rule, ModelRule):
            log = self.evidence.log
            yield from rule.explain(place, (log.low, log.high), upper=upper)
        if not isinstance(rule, Chain):
            return
        last = rule.links[-1].distribution
        if rule.reweightings:
            yield from self._write_population(rule, run, place, upper=upper)
        elif isinstance(last, Natural) and isinstance(last.joint, Known):
            yield from self._write_natural(last, run, place, upper=upper)
        elif isinstance(last, Tilted):
            yield from self._write_tilted(rule, last, run, place)
        else:
            yield from self._write_cells(rule, run, place)

    def _write_cells(self, chain: Chain, run: Run, place: Place) -> tuple[Line, ...]:
        """A line for each cell: its levels, mean outcome and logged rows; both ends share them."""
        if self._last[0] != (chain, place):
            which = id(chain)  # rules live as long as this object
            if which not in self._cells:  # once for all rows
                self._cells[which] = bound_cells(chain, run)
            low, high = (ends[place] for ends in self._cells[which])
            lines = []
            if low.size <= MOST_CELLS:
                for at, value in np.ndenumerate(low):
                    levels = dict(zip(chain.variables[:-1], at, strict=True))
                    lines.append(
                        self._write_cell(chain, place, levels, float(value), float(high[at]))
                    )
            self._last = (chain, place), tuple(lines)
        return self._last[1]

    def _write_cell(
        self, chain: Chain, place: Place, levels: Mapping[str, int], low: float, high: float
    ) -> str:
        here = dict(zip(self.axes, place, strict=True)) | dict(levels)
        read = {n: i for n, i in here.items() if n in chain.needs & self.table.names}
        rows = float(self._count_rows(frozenset(read)).at(read))
        (mean,) = self.evidence.scale(np.array([low]))
        unknown = "never logged in some strata" if rows else "never logged"
        decimals = choose_decimals(self.evidence.log.low, self.evidence.log.high)
        worth = unknown if high - low > _NEAR else f"{mean:,.{decimals}f}"
        where = ", ".join(str(self._write_level(name, i)) for name, i in levels.items())
        of = f"mean {self.evidence.query.outcomes[0]}{f' with {where}' if where else ''}"
        return f"{of} {worth} ({format_count(rows)})"

    def _write_natural(
        self, distribution: Natural, run: Run, place: Place, *, upper: bool
    ) -> Iterator[Line]:
        """Those who got the arm as it came, with a success or failure, and the others."""
        assert isinstance(distribution.joint, Known)
        here = dict(zip(self.axes, place, strict=True))
        outcome = self.evidence.query.outcomes[0]
        formula = distribution.joint.formula
        names = tuple(n for n in formula.columns if n not in formula.summed)
        low, _ = run.numbers.read(formula, names)
        if not {n.rstrip("'") for n in names} <= {*here, outcome}:
            return  # behind other links: no single number
        fixed = here | {outcome: 0 if upper else 1}
        at = tuple(
            min(fixed[n.rstrip("'")], s - 1) for n, s in zip(names, low.shape, strict=True)
        )
        of = tuple(self._write_level(n, fixed[n]) for n in (*distribution.taken, outcome))
        given = tuple(
            self._write_level(n, here[n])
            for n in names
            if n in here and n not in distribution.taken
        )
        if upper:
            yield "1"
        sign = "- 1 x " if upper else "+ 1 x "
        yield Sentence.of(sign, Term("P", of, given), f" = {float(low[at]):.4g}")

    def _write_tilted(
        self, chain: Chain, distribution: Tilted, run: Run, place: Place
    ) -> Iterator[Line]:
        """The probability of the arm and the mean with it, for each level of the covariates."""
        outer = (*chain.axes, *chain.variables[:-1])
        others = tuple(a for a in outer if a != distribution.arm)
        if not isinstance(distribution.propensity, Known) or not isinstance(
            distribution.observed, Known
        ):
            return
        shares, _ = run.numbers.read(
            distribution.propensity.formula, (*others, distribution.arm)
        )
        means, _ = run.numbers.read(distribution.observed.formula, (*outer, chain.outcome))
        levels = run.numbers.levels
        here = dict(zip(chain.axes, place, strict=True))
        for at in islice(np.ndindex(*(levels[n] for n in chain.variables[:-1])), MOST_CELLS):
            full = here | dict(zip(chain.variables[:-1], at, strict=True))
            share = _look_up(shares, [full[n] for n in (*others, distribution.arm)])
            mean = _look_up(means, [*(full[n] for n in outer), 1])
            given = ", ".join(str(self._write_level(n, full[n])) for n in chain.variables[:-1])
            where = f"given {given}: " if given else ""
            (worth,) = self.evidence.scale(np.array([mean]))
            arm = distribution.arm
            yield f"{where}probability of {arm} {share:.4g}, mean with the arm {worth:.4g}"

    def _write_population(
        self, chain: Chain, run: Run, place: Place, *, upper: bool
    ) -> Iterator[Line]:
        """The population that attains the endpoint: who is commoner or rarer than in the log.

        Only where the first link is reweighted: else each level of the links before has a
        population of its own.
        """
        link, here = chain.links[0], dict(zip(chain.axes, place, strict=True))
        distribution, names = link.distribution, link.variables
        low, high = chain.bound_from(run, 1)
        if isinstance(
            distribution, Natural
        ):  # others than those with the arm have the worst outcome
            names, distribution = (*distribution.taken, *names), distribution.joint
            shape = [run.numbers.levels[name] for name in names]
            low, high = np.zeros(shape), np.ones(shape)
            own = tuple(here[name] for name in names[:-1])
            low[own], high[own] = (0.0, 1.0), (0.0, 1.0)
            low, high = (each[(None,) * len(place)] for each in (low, high))
        if (
            not isinstance(distribution, Reweighted)
            or not distribution.reweighting.reads_shield
        ):
            return
        values = (high if upper else -low)[
            tuple(min(i, s - 1) for i, s in zip(place, low.shape, strict=False))
        ]
        shape = [run.numbers.levels[name] for name in names]
        given = {a: i for a, i in here.items() if a in distribution.given}
        population = run.population(distribution.reweighting)
        found = population.solve(np.broadcast_to(values, shape), names, given)
        if found is None or found.status is not SolveStatus.OPTIMAL or found.point[0] <= 0:
            return
        shares = population.read_shares(found.point)
        shield, facts = (
            sort_names(distribution.reweighting.shield),
            distribution.reweighting.facts,
        )
        least, most = population.logged
        logged = (least + most) / 2
        furthest = np.sort(np.abs(shares - logged).argsort()[::-1][:MOST_KINDS])
        places = list(np.ndindex(*(run.numbers.levels[name] for name in shield)))
        for i in furthest:
            who = ", ".join(
                str(self._write_level(n, k)) for n, k in zip(shield, places[i], strict=True)
            )
            limit = ""
            if facts and least[i] > 0 and shares[i] <= facts.least_ratio * least[i] + _NEAR:
                limit = ", the least allowed"
            elif facts and shares[i] >= facts.find_greatest_share(float(most[i])) - _NEAR:
                limit = ", the most allowed"
            yield (
                f"attained when {who}: {shares[i]:.4g} of everyone, {logged[i]:.4g} of the "
                f"log{limit}"
            )
        if len(shares) > len(furthest):
            yield f"and {len(shares) - len(furthest)} kinds more"

    def find_unseen(self, by: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Rows whose rule reads cells that were never logged; the whole range: any rule."""
        found = np.zeros(self.evidence.shape, dtype=bool)
        if not self._is_small:
            return found
        unseen = [self._find_unseen_of(rule) for rule in self.estimates.rules]
        every = np.logical_or.reduce(unseen) if unseen else found
        for which, cells in enumerate([every, *unseen]):
            found |= (by == which) & cells
        return found

    def _find_unseen_of(self, rule: Rule) -> NDArray[np.bool_]:
        levels = self.evidence.levels
        found = np.zeros(self.evidence.shape, dtype=bool)
        held = self.table.names
        for term in rule.terms:
            names = frozenset(n for n in term.given & held if levels[n] > 1)
            if prod(levels[name] for name in names.union(self.axes)) > MOST_UNSEEN:
                return np.ones_like(found)
            order = (*self.axes, *sort_names(names.difference(self.axes)))
            empty = self._count_rows(names).align(order) == 0
            found = found | empty.any(axis=tuple(range(len(self.axes), len(order))))
        return found

    def explain_sampling(self, low: int, high: int, place: Place) -> RowSampling | None:
        """Why sampling error widens a row as it does, with the levels of cells as logged."""
        if not self._is_sampled or self.evidence.workspace.budget.is_over():
            return None
        found = [
            self.endpoints.sampling(self.endpoints.rules[which], place, upper=upper)
            if which >= 0
            else None
            for which, upper in ((low, False), (high, True))
        ]
        lower, upper = (end and self._name_levels(end) for end in found)
        return None if lower is None and upper is None else RowSampling(lower, upper)

    def _name_levels(self, end: EndSampling) -> EndSampling:
        def name(cell: HeavyCell) -> HeavyCell:
            known = self.table.levels
            levels = [
                (n, known[n][i] if n in known and isinstance(i, int) else i)
                for n, i in cell.levels
            ]
            return replace(cell, levels=tuple(levels))

        return replace(end, heaviest=tuple(map(name, end.heaviest)))

    def _count_rows(self, names: Nodes) -> NamedArray:
        if names not in self._marginals:
            self._marginals[names] = self.table.marginalize(names)
        return self._marginals[names]

    def _write_level(self, name: str, level: int) -> Variable:
        """A variable at a level, as in "C=a"; the outcome at an end of its range."""
        if name == self.evidence.query.outcomes[0]:
            (worth,) = self.evidence.scale(np.array([float(level)]))
            return Variable(name, value=f"{worth:g}", bare=True)
        levels = self.table.levels[name.rstrip("'")]
        return Variable(name, value=str(levels[level]), bare=True)


def _look_up(values: NDArray[np.float64], place: Sequence[int]) -> float:
    return float(values[tuple(min(i, n - 1) for i, n in zip(place, values.shape, strict=True))])

"""Which rules on a reweighted log have claims, decided by the graph and what is stated.

The mean of a function of one row, given levels of others, is a ratio of two sums linear in the
unknown weights ``r`` of kinds of rows. Multipliers of what is known of the population make one
mean of it. Where a law that was estimated apart is averaged, or response types are weighed by
estimated chances, there is no such mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, prod
from typing import Final

from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.rules.natural import NaturalBounds
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.rules.reweighted_nested_chain import ReweightedNestedChain
from boundit.bounds.rules.reweighted_types import ReweightedTypes
from boundit.terms.names import Nodes, join_names, sort_names

NO_LIMIT = "no upper limit is stated on how much rarer in the log than among all a row can be"

MANY_CELLS: Final = 4
"""From how many cells on, besides the table's own axes, claims are made under a limit."""


@dataclass(frozen=True, slots=True)
class SelectionForm:
    """A mean of the population: of the reward, given some levels.

    ``chosen`` are arms that are taken as they came: who came with another counts for nothing.
    """

    axes: tuple[str, ...]
    outcome: str
    block: ReweightedBlock
    chosen: Nodes

    @property
    def reads(self) -> Nodes:
        """The axes of the table that its value hangs on."""
        return (self.block.given | self.chosen) & frozenset(self.axes)

    @property
    def cell_axes(self) -> tuple[str, ...]:
        """The variables of a row that matter, those that the log is reweighted by first."""
        law = self.block.reweighting
        own = self.block.given.union(self.block.variables, *law.tables) - law.steering
        return *sort_names(law.steering), *sort_names(own)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest weight of a kind of row, by what is stated."""
        facts = self.block.reweighting.facts
        return facts.least_ratio, facts.find_greatest_share(1.0)

    def has_many_cells(self, levels: Mapping[str, int]) -> bool:
        """Tell whether a row of the table reads so many cells that a claim beats their boxes.

        Without an upper limit it does for any number.
        """
        inner = (levels[name] for name in self.cell_axes if name not in self.axes)
        return self.limits[1] == inf or prod(inner) >= MANY_CELLS


def find_selection_form(
    rule: ReweightedChain | ReweightedNestedChain | NaturalBounds | ReweightedTypes,
) -> SelectionForm | Unmet:
    """Find the mean of the population that a rule bounds, or say why claims have none."""
    match rule:
        case NaturalBounds():
            form = SelectionForm(rule.axes, rule.outcome, rule.block, rule.chosen)
        case ReweightedChain(links=(ReweightedBlock() as block,), reward=None):
            form = SelectionForm(rule.axes, rule.outcome, block, frozenset())
        case ReweightedChain():
            return Unmet(_explain_chain(rule))
        case ReweightedNestedChain():
            return Unmet("it multiplies 2 reweighted laws")
        case ReweightedTypes():
            return Unmet(_explain_types(rule))
    if form.limits[1] < inf or _has_constant_multipliers(form):
        return form
    return Unmet(NO_LIMIT)


def _has_constant_multipliers(form: SelectionForm) -> bool:
    """Tell whether multipliers that hold for every law are as good as any, without a limit.

    So it is if some kind of row surely counts least among those with the given levels, or if
    every cell is a kind of its own.
    """
    law = form.block.reweighting
    if form.limits[0] <= 0:
        return False
    if law.tables:
        return frozenset(form.cell_axes) == law.steering
    return form.block.given <= law.steering and not law.steering.isdisjoint(
        form.block.variables
    )


def _explain_chain(rule: ReweightedChain) -> str:
    """Say why a chain with a reweighted block is no mean of a function of one row."""
    if len(rule.blocks) > 1:
        return f"it multiplies {len(rule.blocks)} reweighted laws"
    (block,) = rule.blocks
    drawn = join_names(block.variables)
    if rule.reward is not None:
        return f"it averages the estimated law of {rule.outcome} over the reweighted {drawn}"
    others = join_names(frozenset(rule.variables).difference(block.variables))
    return f"it averages ratios, the reweighted law of {drawn}, over {others}"


def _explain_types(rule: ReweightedTypes) -> str:
    """Say why a program over response types on a reweighted log has no claims."""
    inside, varied = join_names(rule.program.inside), rule.program.varied
    if varied:
        return f"response types of {inside} are weighed by chances of {join_names(varied)}"
    return f"response types of {inside} reproduce a law that is itself reweighted"


def is_stated(law: Reweighting) -> bool:
    """Tell whether facts or tables say anything of a reweighting."""
    return bool(law.facts or law.tables)

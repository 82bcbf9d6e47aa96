r"""Rules as sums of levels, which claims can be made of.

A formula without ratios is :math:`\sum_v \prod_j P_j(v_j \mid g_j)`, where every :math:`g_j` is
made of fixed values and of variables that other factors draw. Each factor is a *level*: it is
read once, off rows whose columns are revealed level after level, so that the errors of all
levels add up to one martingale. A rule that takes the worst over variables of unknown law is
such a sum for each choice of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boundit.bounds.rules.rule import BoundRule
from boundit.estimand.language.expression import P
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes


@dataclass(frozen=True, slots=True)
class Level:
    """One factor of a sum of products, read once.

    ``names`` says what a column is called in the sum where that is not its own name, as the
    natural value of a treatment is beside the arm. ``depth`` counts the variables of unknown
    law, ``LevelForm.worst``, within which it stands; ``fold`` says which part of the rows it is
    read off.
    """

    term: P
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    depth: int = 0
    fold: int = 0

    @property
    def of(self) -> Nodes:
        """The variables whose law it is, by their names in the sum.

        Read by ``LevelForm.drawn``.
        """
        return frozenset(self.names.get(name, name) for name in self.term.of)

    @property
    def given(self) -> Nodes:
        """The variables that the law is given, by their names in the sum.

        Read by ``find_form`` for the order of levels.
        """
        return frozenset(self.names.get(name, name) for name in self.term.given)

    @property
    def columns(self) -> Mapping[str, str]:
        """The column behind every variable that it reads, by its name in the sum.

        Read by whatever counts the cells of a level.
        """
        return {self.names.get(name, name): name for name in self.term.free}


@dataclass(frozen=True, slots=True)
class LevelForm:
    """A sum of products for every row of a table, at the worst of some variables.

    The ``levels`` stand in an order in which their columns may be revealed: what was revealed
    before says nothing of what a level draws beyond what it is given. The last one holds the
    value. ``axes`` are the treatments and the context of the row; the ``outcome`` is read at
    success, in whichever level it occurs. Over each of ``worst``, the outermost first, the
    least or the greatest is taken. Of ``idle`` variables the level does not matter to the true
    value: any may be chosen that does not hang on the rows that are read.
    """

    levels: tuple[Level, ...]
    axes: tuple[str, ...]
    outcome: str
    worst: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    @property
    def last(self) -> Level:
        """The level that holds the value. Read by claims on sums."""
        return self.levels[-1]

    @property
    def n_folds(self) -> int:
        """Into how many folds the rows are cut. Read by what cuts them."""
        return 1 + max(level.fold for level in self.levels)

    @property
    def drawn(self) -> Mapping[str, int]:
        """The variables that are summed over, each with the depth of the level that draws it.

        Read by claims on sums.
        """
        fixed = {*self.axes, self.outcome, *self.worst, *self.idle}
        return {
            name: level.depth for level in self.levels for name in level.of if name not in fixed
        }


@dataclass(frozen=True, slots=True)
class RatioForm:
    """A sum divided by the same sum with the outcome at any level.

    ``form`` is what stands above the line. Below it the level that draws the outcome is read
    without it, and is dropped where it draws nothing else.
    """

    form: LevelForm


@dataclass(frozen=True, slots=True)
class Unmet:
    """Why a rule is no sum of levels: the condition that fails, in words for users."""

    reason: str


def find_form(rule: BoundRule, graph: CausalGraph) -> LevelForm | RatioForm | Unmet:
    """Find the sum of levels that a rule computes, or say which condition fails.

    Called once for each rule of a plan, before any row is read.
    """
    del rule, graph
    return Unmet("it is neither a formula nor a chain that ends in one")

r"""Selection as an unknown reweighting: the populations that a selected log leaves possible.

Let ``M`` be the variables that shield selection from some others ``T``:
``(S _||_ T | M)``. Then selection changes the law of ``M`` alone,

.. math:: P(t, m) = P(t \mid m, S{=}1)\; q(m), \qquad q(m) = P(m \mid S{=}1)\, r(m)

and only ``q``, the law of ``M`` among everyone, is unknown. What is known about selection and
what unselected tables show are linear in ``q``:

- ``r >= P(S=1)`` and ``1/G <= r <= G`` bound each ``q(m)``;
- a table over ``T'`` fixes :math:`\sum P(t', m) = P(t')` for every value ``t'``.

A value of ``M`` that was never logged may have any mass, and spread it in any way: no kind of
row is assumed to have had a chance of being logged. A selection limit says that it had, and
takes the mass away. With counts, ``P(t | m, S=1)`` is known between two ends; the
masses are then variables of their own between ``low q(m)`` and ``high q(m)``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.estimand.language.expression import Expression, P
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import StepRecord
from boundit.terms.names import Nodes, join_names, sort_names


@dataclass(frozen=True, slots=True)
class Reweighting:
    """Which variables are reweighted, by what, and what is known of it; by the graph alone.

    ``steering`` shields selection from the others. ``tables`` are sets of variables counted
    without selection, all among ``variables``. ``selection`` is the selection node, which steps
    name.
    """

    variables: Nodes
    steering: Nodes
    facts: SelectionFacts = NOTHING_KNOWN
    tables: tuple[Nodes, ...] = ()
    selection: str | None = None

    @classmethod
    def from_graph(
        cls,
        graph: CausalGraph,
        variables: Nodes,
        facts: SelectionFacts,
        tables: Sequence[Nodes] = (),
    ) -> "Reweighting":
        """Find by the graph which of some variables shield selection from all the others.

        The log is then reweighted by these alone, and what comes out says so. The variables of
        the tables are taken in.

        >>> from boundit.graph.text import parse
        >>> chain = parse("X -> M -> Y; M -> [S]")
        >>> found = Reweighting.from_graph(chain, frozenset("XMY"), SelectionFacts())
        >>> sorted(found.steering)
        ['M']
        """
        every = variables.union(*tables)
        steering = find_boundary(graph, str(graph.selection), given=every)
        return cls(every, steering, facts, tuple(tables), graph.selection)

    @property
    def axes(self) -> tuple[str, ...]:
        """The variables in the order of arrays: those reweighted by first, each part by name."""
        return *sort_names(self.steering), *sort_names(self.variables - self.steering)

    @property
    def shares(self) -> P:
        """The term ``P(others | steering variables)``, which selection does not change.

        Steering variables are those by which the log is reweighted.
        """
        return P(self.variables - self.steering, self.steering)

    @property
    def reads_steering(self) -> bool:
        """Whether facts or tables need the logged law of the variables reweighted by."""
        return bool(self.steering and (self.facts or (self.tables and not self.shares.of)))

    @property
    def is_free(self) -> bool:
        """Whether everyone may have one value of the variables reweighted by.

        No table, and no fact keeps any value from being as rare as can be.
        """
        return not self.tables and self.facts.least_ratio == 0

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The terms whose numbers the reweighting reads off the log and the tables."""
        found = [self.shares] if self.shares.of else []
        if self.reads_steering:
            found.append(P(self.steering))
        return *found, *(P(table, logged=False) for table in self.tables)

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """The proof step that some variables shield the others from selection.

        The log is reweighted by those that shield; no step where either are none.
        """
        known, hidden = sort_names(self.steering), sort_names(self.variables - self.steering)
        if not known or not hidden:
            return ()
        shown = f"given {join_names(known)}, selection tells nothing of {join_names(hidden)}"
        sides = ((self.selection,), tuple(hidden)) if self.selection else None
        return (StepRecord(f"Rule 1: {shown}", sides, tuple(known) if sides else ()),)

    @property
    def statement(self) -> str:
        """The facts and tables that the population must fit, in words."""
        said = [str(self.facts)] if self.facts else []
        said += [
            f"P({join_names(table)}) is that of an unselected table" for table in self.tables
        ]
        return ", ".join(said) or str(self.facts)


@dataclass(frozen=True, slots=True)
class ReweightedBlock:
    """Variables whose law is ``P(variables | given)`` of the population, and why."""

    variables: tuple[str, ...]
    given: Nodes
    reweighting: Reweighting
    steps: tuple[StepRecord, ...] = ()

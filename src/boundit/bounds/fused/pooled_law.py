"""One law under the arms of a query: what it depends on, and what rows of the log tell of it.

``P(of | do(x), c, before)`` is what a round of a policy draws from. The do-calculus drops what
it does not depend on, so that pairs of arm and context share it. Rows of the log are draws of
it where neither selection (Rule 1) nor the way in which the treatments came about (Rule 2)
tells of it. Where they are not, selection may still bend it alike in all pools: a *tilt*.

That a law can be recovered is not enough: a formula may weigh rows, and weighed rows are no
draws.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from boundit.bounds.choose_rules import POLICY, draw_policy
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.derivation import Step
from boundit.estimand.recovery.question import (
    Question,
    find_selection_walk,
    lighten,
    may_ignore_selection,
    may_observe_treatments,
)
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes, join_names, sort_names


@dataclass(frozen=True, slots=True)
class PooledLaw:
    """A law as it is asked for, with all arms and contexts, and as the do-calculus leaves it.

    Pairs of arm and context that agree in what is left, ``given``, have it in common.
    """

    asked: Question
    light: Question
    steps: tuple[Step, ...]

    @property
    def of(self) -> Nodes:
        """The variables whose law it is."""
        return self.asked.outcomes

    @property
    def given(self) -> Nodes:
        """The treatments, contexts and variables before that the law depends on."""
        return self.light.treatments | self.light.context

    @property
    def forms(self) -> tuple[Question, Question]:
        """The same law as it was asked for and as it was left; a test may pass for one alone."""
        return self.asked, self.light

    def describe_pooling(self) -> str:
        """Say which arms and contexts share the law, and by which steps."""
        words = join_names(self.given) or "nothing"
        why = f" ({'; '.join(map(str, self.steps))})" if self.steps else ""
        return f"{self.light} depends on {words}{why}"

    def describe_denied(self, denied: Sequence[str]) -> str:
        """Say that rows of the log deny part of the pooling, which is then left out."""
        names = join_names(denied)
        return (
            f"rows of the log deny that {self.light} does not depend on {names}: "
            f"what differs in {names} is not pooled, and graph or log cannot be right"
        )


class LawReader:
    """Finds the laws under the arms of one query, and what the log's rows tell of each.

    ``adaptive`` says that a policy learned while it wrote the log, so that selection may have
    changed with the treatments. ``tables`` are the variables of unselected tables of rows.
    """

    def __init__(
        self,
        graph: CausalGraph,
        query: EffectQuery,
        *,
        adaptive: bool = False,
        tables: Iterable[Nodes] = (),
    ) -> None:
        self.graph, self.query = graph, query
        self.tables = tuple(tables)
        self._adaptive = adaptive
        self._x, self._c = frozenset(query.treatments), frozenset(query.context)
        self._laws = dict[tuple[Nodes, Nodes], PooledLaw]()
        self._draws = dict[PooledLaw, bool]()

    @property
    def n_laws(self) -> int:
        """How many laws were looked at."""
        return len(self._laws)

    @cached_property
    def _drawn(self) -> CausalGraph:
        """The graph with the policy that wrote the log; read by ``LawReader._is_stable``."""
        return draw_policy(self.graph, self.query.treatments)

    @cached_property
    def _selection(self) -> Nodes:
        """The selection node as a set; read by ``LawReader`` for separations."""
        return frozenset((self.graph.selection,)) if self.graph.selection else frozenset()

    def find_law(self, of: Nodes, before: Nodes = frozenset()) -> PooledLaw:
        """Find what ``P(of | do(x), c, before)`` depends on; each law is looked at once."""
        key = (of, before)
        if key not in self._laws:
            asked = Question(of, self._x, self._c | before)
            self._laws[key] = PooledLaw(asked, *lighten(self.graph, asked))
        return self._laws[key]

    def are_draws(self, law: PooledLaw) -> bool:
        """Tell whether rows of the log are draws of a law, given what it depends on.

        Where this holds given all arms and contexts, it holds given those alone that matter, as
        rows of all of these are draws of one law; and the other way round it may hold for fewer
        conditions alone.
        """
        if law not in self._draws:
            self._draws[law] = any(map(self._shows, law.forms))
        return self._draws[law]

    def list_deniable(self, law: PooledLaw) -> tuple[str, ...]:
        """List what a law does not depend on by the graph, where rows of the log could deny it.

        They could if they are draws of the law given all arms and contexts too.
        """
        asked = law.asked
        dropped = (asked.treatments | asked.context) - law.given
        return tuple(sort_names(dropped)) if dropped and self._shows(asked) else ()

    def _shows(self, asked: Question) -> bool:
        """Tell whether the log's conditional is the law: Rule 1 for selection, then Rule 2."""
        # A policy that learned changed how treatments came about, and the law does not hang on
        # that: rows are draws of it under every policy.
        return may_ignore_selection(self.graph, asked) and may_observe_treatments(
            self.graph, replace(asked, selected=True)
        )

    def _is_stable(self, law: PooledLaw) -> bool:
        """Tell whether the log shows a law alike whatever policy wrote the rows."""
        if not self._adaptive:
            return True
        given = law.given | self._selection
        return open_walk(self._drawn, law.of, POLICY, given=given) is None

    def has_tilt(self, law: PooledLaw) -> bool:
        """Tell whether the log shows a law up to weights by its own values, alike in all pools.

        ``P(w | x, c, S=1)`` is then ``P(w | do(x), c)`` times ``P(S=1 | w)``, up to a constant:
        treatments may be observed in the population (Rule 2), and selection hangs on what the
        law depends on through ``w`` alone.
        """
        return (
            bool(law.given)
            and bool(self._selection)
            and any(may_observe_treatments(self.graph, form) for form in law.forms)
            and open_walk(self.graph, law.given, self._selection, given=law.of) is None
            and self._is_stable(law)
        )

    def find_tables(self, law: PooledLaw) -> list[int]:
        """List the unselected tables whose rows are draws of a law, by their numbers.

        They need all its variables, and Rule 2 without selection.
        """
        wanted = law.of | law.given
        held = [i for i, table in enumerate(self.tables) if wanted <= table]
        if held and any(may_observe_treatments(self.graph, form) for form in law.forms):
            return held
        return []

    def explain_refusal(self, law: PooledLaw) -> str:
        """Say why rows of the log are no draws of a law."""
        of, light = join_names(law.of), law.light
        if walk := find_selection_walk(self.graph, light):
            return f"selection tells of {of} by {' '.join(walk)}"
        return f"what made {join_names(light.treatments)} come about in the log tells of {of}"

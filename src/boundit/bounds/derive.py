"""The offline half in one call: a graph, a question and a log in, a bound table out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import final, get_args

from boundit.bounds.assemble import assemble
from boundit.bounds.confidence import NoConfidence, require_confidence
from boundit.bounds.options import check_limits, open_external_logs
from boundit.bounds.plan import BoundPlan, Profile, plan_bounds
from boundit.bounds.plan_counts import PlanCounts, count_for
from boundit.bounds.request import hide_reward, read_bandit_query
from boundit.bounds.reward import may_be_binary
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.read import read_log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.message import ANY, Message, Note, Option
from boundit.terms.names import Nodes, join_names


class UnknownProfile(BounditError):
    """A profile that is none of ours."""

    def __init__(self, found: object) -> None:
        known = ", ".join(get_args(Profile))
        super().__init__(f"no profile {found!r}; there are {known}", option="profile")


def derive_bounds(
    graph: CausalGraph,
    query: EffectQuery | str,
    log: object,
    *,
    profile: Profile = "sound",
    confidence: float | None = 0.95,
    external: Iterable[object] = (),
    selection_rate: float | tuple[float, float] | None = None,
    sensitivity: float | None = None,
    reward_range: tuple[float, float] | None = None,
    domain: Mapping[str, Sequence[object]] | None = None,
    max_condition: int = 3,
    time_limit: float | None = None,
) -> BoundTable:
    """Bound what every arm would earn in every context, with the reason for each end.

    In three steps: ``plan_bounds`` chooses the rules from the graph, ``count_for`` counts the
    columns they read in one pass over the log, and ``assemble`` tries the rules on the counts.
    Only a reward that has effects and is declared to be in (0, 1) is counted a second time
    where some of its values turn out to lie between: its effects then tell less.

    Parameters
    ----------
    graph, query
        What is assumed, and what is asked, as in ``"Y | do(X1, X2), U1, U2"``.
    log
        Anything ``read_log`` takes.
    profile
        ``"sound"``: everything that holds, intersected. ``"paper"``: the printed method under
        its own name, which can miss the truth.
    confidence
        The chance that *every* interval of the table holds, over logs drawn the same way. None
        for plug-in ends, which neglect sampling error; an exact law and profile ``"paper"``
        have no others.
    external
        Unselected logs of some of the variables.
    selection_rate
        Which share of the population was logged: a number, or a range such as (0.3, 0.6).
    sensitivity
        A limit G on how far selection may reweight: each kind of row was logged between 1/G
        and G times as often as the average one.
    reward_range
        What the reward can be; only a 0/1 reward needs none.
    domain
        Levels of variables beyond those seen.
    max_condition
        How many variables a rule may condition on.
    time_limit
        Seconds for the search for rules, and as many again for linear programs; what is found
        until then holds.
    """
    derivation = BoundDerivation(
        graph,
        query,
        log,
        profile=profile,
        external=external,
        reward_range=reward_range,
        domain=domain,
        max_condition=max_condition,
        time_limit=time_limit,
    )
    return derivation.bound(
        confidence=confidence, selection_rate=selection_rate, sensitivity=sensitivity
    )


@final
class BoundDerivation:
    """A question and its opened logs, whose counts are kept from one table to the next.

    A table under another confidence, sensitivity or selection rate is planned and assembled
    anew, and reads rows again only where its rules read other columns. Used by
    ``derive_bounds`` for one table; the options are the same.
    """

    def __init__(
        self,
        graph: CausalGraph,
        query: EffectQuery | str,
        log: object,
        *,
        profile: Profile = "sound",
        external: Iterable[object] = (),
        reward_range: tuple[float, float] | None = None,
        domain: Mapping[str, Sequence[object]] | None = None,
        max_condition: int = 3,
        time_limit: float | None = None,
    ) -> None:
        if profile not in get_args(Profile):
            raise UnknownProfile(profile)
        self.graph, self.query = graph, read_bandit_query(graph, query)
        check_limits(max_condition=max_condition, time_limit=time_limit, domain=domain)
        self.log, self.external = read_log(log), open_external_logs(graph, external)
        self.profile, self.reward_range, self.domain = profile, reward_range, domain
        self._plan = partial(
            plan_bounds,
            query=self.query,
            profile=profile,
            tables=[frozenset(other.columns) & graph.observed for other in self.external],
            max_condition=max_condition,
            time_limit=time_limit,
        )
        self._counts: dict[tuple[CausalGraph, Nodes], PlanCounts] = {}

    def bound(
        self,
        *,
        confidence: float | None = 0.95,
        selection_rate: float | tuple[float, float] | None = None,
        sensitivity: float | None = None,
    ) -> BoundTable:
        """Plan, count and assemble one table; the options are those of ``derive_bounds``.

        Called by ``derive_bounds`` once, and by whoever varies these options.
        """
        chance = None if self.profile == "paper" else confidence
        require_confidence(chance)
        facts = SelectionFacts.from_options(
            selection_rate=selection_rate, sensitivity=sensitivity
        )
        facts.require_in(self.graph)
        if chance is not None and all(table.exact for table in (self.log, *self.external)):
            none = Option("confidence", None)
            raise NoConfidence("an exact law has no sampling error; pass ", none)
        hidden = hide_reward(self.graph, self.query.outcomes[0])
        declared = self.reward_range
        plan = self._plan(self.graph if may_be_binary(declared) else hidden, facts=facts)
        counts = self._count(plan)
        if declared is not None and plan.graph is not hidden and not counts.have_binary_reward:
            plan = self._plan(hidden, facts=facts)
            counts = self._count(plan)
        plan = plan.with_notes(*_note_hidden(plan, self.domain or {}, declared))
        return assemble(plan, counts, reward_range=declared, confidence=chance)

    def _count(self, plan: BoundPlan) -> PlanCounts:
        """Count what a plan reads, unless a plan before it read the same.

        Called by ``BoundDerivation.bound``.
        """
        key = (plan.graph, plan.needs)
        if key not in self._counts:
            self._counts[key] = count_for(plan, self.log, self.external, self.domain)
        return self._counts[key]


def _note_hidden(
    plan: BoundPlan, declared: Mapping[str, object], reward_range: tuple[float, float] | None
) -> Iterator[Note]:
    """Warn of what selection may hide, which no rule can then reckon with.

    Called by ``BoundDerivation.bound`` once the rows are counted.
    """
    graph, (outcome,) = plan.graph, plan.query.outcomes
    read = frozenset[str]().union(*(p.rule.range_variables for p in plan.rules))
    guessed = read.difference(declared)
    if graph.selection is not None and guessed:
        yield Message(
            f"only levels of {join_names(guessed)} that were logged count; if selection hides "
            "others, declare them with ",
            Option("domain", ANY),
        )
    if reward_range is not None and graph.selection in graph.descendants(outcome):
        yield (
            f"every logged {outcome} is 0 or 1, so it counts as 0/1; if selection hides values "
            "between, these bounds can miss"
        )

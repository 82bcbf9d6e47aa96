"""The offline half in one call: a graph, a question and a log in, a bound table out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from boundit.bounds.assemble import assembled
from boundit.bounds.confidence import NoConfidence, require_confidence
from boundit.bounds.options import check_limits, external_logs
from boundit.bounds.plan import BoundPlan, Profile, paper_plan, sound_plan
from boundit.bounds.request import bandit_query, coin_graph
from boundit.bounds.reward import tosses_itself
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.log import Log
from boundit.counts.read import read_log
from boundit.counts.shared_levels import share_levels
from boundit.counts.table import CountTable
from boundit.counts.unmarked import find_suspects
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.message import ANY, Message, Option
from boundit.terms.names import Nodes, join_names, sort_names


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

    The rules are chosen from the graph first; then one pass over the log counts only the
    columns they read.

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
    if profile not in get_args(Profile):
        raise UnknownProfile(profile)
    asked = bandit_query(graph, query)
    if profile == "paper":
        confidence = None
    require_confidence(confidence)
    check_limits(max_condition=max_condition, time_limit=time_limit, domain=domain)
    facts = SelectionFacts.from_options(selection_rate=selection_rate, sensitivity=sensitivity)
    facts.require_in(graph)
    opened, others = read_log(log), external_logs(graph, external)
    if confidence is not None and all(table.exact for table in (opened, *others)):
        none = Option("confidence", None)
        raise NoConfidence("an exact law has no sampling error; pass ", none)

    def bounded_on(drawn: CausalGraph) -> tuple[BoundPlan, tuple[CountTable, ...]]:
        tables = [frozenset(other.columns) & drawn.observed for other in others]
        if profile == "paper":
            plan = paper_plan(drawn, asked, tables, max_condition=max_condition)
        else:
            plan = sound_plan(
                drawn,
                asked,
                tables,
                max_condition=max_condition,
                time_limit=time_limit,
                facts=facts,
            )
        needed = frozenset(asked.treatments + asked.context).union(
            *(candidate.needs for candidate in plan.candidates)
        )
        counts = counted(drawn, asked, opened, others, needed, domain or {})
        return _noting_levels(plan, drawn, domain or {}), counts

    plan, tables = bounded_on(graph)
    (outcome,) = asked.outcomes
    if graph.links[outcome].children and not tosses_itself(tables, reward_range):
        plan, tables = bounded_on(coin_graph(graph, outcome))
    elif reward_range is not None and graph.selection in graph.descendants(outcome):
        note = (
            f"every logged {outcome} is 0 or 1, so it counts as 0/1; if selection hides values "
            "between, these bounds can miss"
        )
        plan = replace(plan, notes=(*plan.notes, note))
    return assembled(
        plan,
        tables,
        asked,
        profile=profile,
        reward_range=reward_range,
        selected=graph.selection is not None,
        confidence=confidence,
    )


def _noting_levels(
    plan: BoundPlan, graph: CausalGraph, declared: Mapping[str, object]
) -> BoundPlan:
    """Warn that selection may hide a level, which no rule can then reckon with."""
    tried = frozenset[str]().union(*(candidate.variables for candidate in plan.candidates))
    guessed = tried.difference(declared)
    if graph.selection is None or not guessed:
        return plan
    note = Message(
        f"only levels of {join_names(guessed)} that were logged count; if selection hides "
        "others, declare them with ",
        Option("domain", ANY),
    )
    return replace(plan, notes=(*plan.notes, note))


def counted(
    graph: CausalGraph,
    query: EffectQuery,
    log: Log,
    others: Sequence[Log],
    needed: Nodes,
    domain: Mapping[str, Sequence[object]],
) -> tuple[CountTable, ...]:
    """Count what the rules read, one pass a log, and give every table the same levels."""
    (outcome,) = query.outcomes
    graph.require(domain)
    wanted = sort_names(needed - {outcome})
    first = log.count(
        wanted,
        reward=outcome,
        selection=graph.selection,
        unmarked=find_suspects(graph, query.outcomes + query.treatments + query.context),
    )
    tables = []
    for other in others:
        held = [name for name in wanted if name in other.columns]
        tables.append(other.count(held, reward=outcome if outcome in other.columns else None))
    return share_levels(
        first, tables, {n: levels for n, levels in domain.items() if n in needed}
    )

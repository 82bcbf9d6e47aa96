"""The offline half in one call: a graph, a question and a log in, a bound table out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from boundit.bounds.coin import Coin
from boundit.bounds.question import bandit_query, coin_graph
from boundit.bounds.reward import is_binary
from boundit.bounds.reward import reward_range as settled_range
from boundit.bounds.rules import Plan, Profile, paper_plan, sound_plan
from boundit.bounds.tighten import tightest
from boundit.counts.evaluate import Evaluator
from boundit.counts.log import Log
from boundit.counts.read import read_log
from boundit.counts.table import CountTable, shared_domain
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.names import Nodes, in_order


class UnknownProfile(BounditError):
    """A profile that is none of ours."""

    def __init__(self, found: object) -> None:
        super().__init__(f"no profile {found!r}; there are {', '.join(get_args(Profile))}")


def derive_bounds(
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
) -> BoundTable:
    """Bound what every arm would earn in every context, with the reason for each end.

    The rules are chosen from the graph first; then one pass over the log counts only the
    columns they read. Ends are plug-in estimates: exact for an exact law, and without sampling
    error for counted rows.

    Parameters
    ----------
    graph, query
        What is assumed, and what is asked, as in ``"Y | do(X1, X2), U1, U2"``.
    log
        Anything ``read_log`` takes.
    profile
        ``"sound"``: everything that holds, intersected. ``"paper"``: the printed method under
        its own name, which can miss the truth.
    external
        Unselected logs of some of the variables.
    reward_range
        What the reward can be; only a 0/1 reward needs none.
    domain
        Levels of variables beyond those seen.
    max_condition
        How many variables a rule may condition on.
    time_limit
        Seconds for the search for rules; what is found until then holds.
    """
    if profile not in get_args(Profile):
        raise UnknownProfile(profile)
    asked = bandit_query(graph, query)
    opened, others = read_log(log), [read_log(source) for source in external]

    def bounded_on(drawn: CausalGraph) -> tuple[Plan, "_Counts"]:
        tables = [frozenset(other.columns) & drawn.observed for other in others]
        if profile == "paper":
            plan = paper_plan(drawn, asked, tables, max_condition=max_condition)
        else:
            limits = {"max_condition": max_condition, "time_limit": time_limit}
            plan = sound_plan(drawn, asked, tables, **limits)  # type: ignore[arg-type]
        needed = frozenset(asked.treatments + asked.context).union(
            *(candidate.needs for candidate in plan.candidates)
        )
        return plan, _counted(drawn, asked, opened, others, needed, domain or {})

    plan, counts = bounded_on(graph)
    (outcome,) = asked.outcomes
    if graph.links[outcome].children and not all(map(is_binary, counts.rewarded)):
        plan, counts = bounded_on(coin_graph(graph, outcome))
    low, high = settled_range(counts.rewarded, reward_range)
    coins = [
        Coin(table, outcome if table.reward else None, low, high) for table in counts.tables
    ]
    # Without selection the log is the population, and formulas speak of that.
    population = coins[1:] if graph.selection else coins
    evaluator = Evaluator(coins[0], population)
    names = asked.treatments + asked.context
    levels = {name: counts.log.levels[name] for name in names}
    return BoundTable(
        outcome=outcome,
        treatments=asked.treatments,
        context=asked.context,
        levels=levels,
        reward_range=(low, high),
        bounds=tightest(plan, evaluator, counts.log, asked, (low, high)),
        rules={c.rule.name: c.rule for c in plan.candidates},
        profile=profile,
        caveats=(*plan.caveats, *counts.caveats),
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    """The log's table first, then those of the external logs, all with the same levels."""

    tables: tuple[CountTable, ...]

    @property
    def log(self) -> CountTable:
        return self.tables[0]

    @property
    def rewarded(self) -> list[CountTable]:
        return [table for table in self.tables if table.reward]

    @property
    def caveats(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for table in self.tables for note in table.caveats))


def _counted(
    graph: CausalGraph,
    query: EffectQuery,
    log: Log,
    others: Sequence[Log],
    needed: Nodes,
    domain: Mapping[str, Sequence[object]],
) -> _Counts:
    """Count what the rules read, one pass a log, and give every table the same levels."""
    (outcome,) = query.outcomes
    graph.require(domain)
    wanted = in_order(needed - {outcome})
    first = log.count(wanted, reward=outcome, selection=graph.selection)
    tables = [first]
    for other in others:
        held = [name for name in wanted if name in other.columns]
        tables.append(other.count(held, reward=outcome if outcome in other.columns else None))
    declared = {name: levels for name, levels in domain.items() if name in needed}
    levels = shared_domain([table.with_levels(_of(table, declared)) for table in tables])
    return _Counts(tuple(table.with_levels(_of(table, levels)) for table in tables))


def _of(
    table: CountTable, levels: Mapping[str, Iterable[object]]
) -> dict[str, Iterable[object]]:
    return {name: found for name, found in levels.items() if name in table.variables}

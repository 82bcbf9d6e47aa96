"""Questions on logs, planned and counted: what inference is given."""

from collections.abc import Mapping, Sequence
from typing import Any

from boundit.bounds.evidence import (
    Counts,
    Evidence,
    has_two_values,
    is_binary,
    settle_outcome_range,
)
from boundit.bounds.inference.base import Endpoints, Rule
from boundit.bounds.program.rule import find_program
from boundit.bounds.request import hide_reward, open_external_logs
from boundit.bounds.search import find_chains
from boundit.bounds.selection_facts import SelectionFacts
from boundit.core.long_work import TimeBudget
from boundit.core.names import sort_names
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace, read_memory_limit
from boundit.counts.table import CountTable, share_levels
from boundit.estimand.query import parse_query
from boundit.graph.text import parse


def pose(
    graph: str,
    query: str,
    log: object,
    *,
    external: Sequence[object] = (),
    outcome_range: tuple[float, float] | None = None,
    selection_rate: float | None = None,
    cluster: str | None = None,
    domain: Mapping[str, Sequence[object]] | None = None,
    program: bool = False,
    time_limit: float | None = None,
) -> tuple[tuple[Rule, ...], Evidence]:
    """Find the rules of a question and count what they read."""
    drawn, asked, opened = parse(graph), parse_query(query), read_log(log)
    others = open_external_logs(drawn, external)
    facts = SelectionFacts.from_options(selection_rate=selection_rate, selection_limit=None)
    (outcome,), axes = asked.outcomes, asked.treatments + asked.context

    def plan() -> tuple[Rule, ...]:
        tables = [frozenset(other.columns) & drawn.observed for other in others]
        chains: tuple[Rule, ...] = find_chains(drawn, asked, tables, facts=facts).rules
        found = find_program(drawn, asked, tables, facts) if program else None
        return chains if found is None else (*chains, found)

    def count(rules: Sequence[Rule]) -> list[CountTable]:
        needed = frozenset(axes).union(*(rule.needs for rule in rules))
        wanted: Any = sort_names(needed - {outcome})
        first = opened.count(wanted, reward=outcome, selection=drawn.selection, cluster=cluster)
        tables = [
            other.count(
                [name for name in wanted if name in other.columns],
                reward=outcome if outcome in other.columns else None,
            )
            for other in others
        ]
        known = {n: levels for n, levels in (domain or {}).items() if n in needed}
        return list(share_levels(first, tables, known))

    rules = plan()
    tables = count(rules)
    if outcome_range is not None and not all(map(is_binary, tables)):
        drawn = hide_reward(drawn, outcome)
        rules = plan()
        tables = count(rules)
    low, high = settle_outcome_range([t for t in tables if t.reward], outcome_range)
    own, *rest = (Counts(t, t.reward, low, high, has_two_values(t, low, high)) for t in tables)
    population = tuple(rest) if drawn.selection is not None else (own,)
    workspace = Workspace(read_memory_limit(None), TimeBudget(time_limit))
    return rules, Evidence(drawn, asked, own, population, workspace)


def measure(found: Endpoints) -> list[float]:
    """The width of every row."""
    widths: list[float] = (found.upper - found.lower).ravel().tolist()
    return widths

"""What the page asks the library: records as ``--json`` prints them, and what they light up."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from boundit.bounds.count import KeptCounts
from boundit.bounds.derive import derive_table
from boundit.checks.check import check
from boundit.core.errors import BounditError
from boundit.core.formula import StepRecord
from boundit.core.long_work import Progress
from boundit.core.names import Nodes, join_names, sort_names
from boundit.estimand.adjustment import adjustment_sets
from boundit.estimand.derivation import Step
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import implications
from boundit.graph.paths import find_proper_causal_nodes
from boundit.report.bounds import write_bounds_page
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice
from boundit.results.effect import Effect
from boundit.results.text import says_nothing, write_confidence, write_silence
from boundit.studio.ask import AskedProject, spell_caveat, write_for_page
from boundit.studio.claims import LitParts, join_lit, light_walk, make_lighter
from boundit.studio.drawing import make_draft
from boundit.studio.project import DrawnEdge, name_file
from boundit.studio.saved import embed_project
from boundit.studio.take import write_command

MOST_ROWS, MOST_EXPLAINED, MOST_CHOSEN, MOST_LISTED = 5_000, 400, 10_000, 100
"""How many rows are sent, explained and chosen for; and how many sets and paths are listed."""

Record = dict[str, Any]


class CountKeeper:
    """Counts of logs that were read, so that another setting of the same log reads no rows."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._kept: OrderedDict[str, KeptCounts] = OrderedDict()

    def find(self, key: str) -> KeptCounts:
        """Find the counts of a log, none where it is new."""
        self._kept.setdefault(key, {})
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return self._kept[key]


def derive(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> BoundTable:
    """Bound what a project asks, its caveats in the words of the page."""
    request = asked.make_request()
    table = derive_table(request, keeper.find(asked.log_key), progress)
    return replace(table, caveats=tuple(map(spell_caveat, table.caveats)))


def answer_bound(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> Record:
    """Bound effects and means, with reasons for each."""
    table = derive(asked, keeper, progress)
    progress("write the reasons", 0, 1)
    light = make_lighter(asked.project.graph, asked.graph)
    choice = choose_arms(table)
    effects = _find_effects(table, asked.project.query.baseline)
    return {
        "outcome": table.outcome,
        "treatments": table.treatments,
        "context": table.context,
        "arms": list(map(plain, table.arms)),
        "outcome_range": table.outcome_range,
        "goal": table.goal,
        "confidence": table.confidence,
        "inference": table.inference,
        "summary": table.summary(),
        "caveats": list(map(str, table.caveats)),
        "silence": write_silence(table, effects) if says_nothing(table) else [],
        "effects": _record_effects(table, effects),
        "rows": _record_rows(table),
        "n_rows": len(table.bounds),
        "rules": {
            name: {"claim": str(rule.claim), **_record_steps(rule.steps, light)}
            for name, rule in table.rules.items()
        },
        "choice": []
        if choice is None
        else [choice.write_answer(each) for each in islice(choice.values(), MOST_ROWS)],
    }


def _find_effects(table: BoundTable, baseline: Arm | None) -> list[Effect]:
    """Find the effects of all arms relative to one; none where there is one arm alone."""
    return [] if len(table.arms) < 2 else [*table.effects(baseline).values()]


def _record_effects(table: BoundTable, effects: list[Effect]) -> Record | None:
    """Record effects, the conclusive ones first."""
    if not effects:
        return None
    conclusive = [each for each in effects if each.lower > 0 or each.upper < 0]
    said = [*conclusive, *(each for each in effects if each not in conclusive)]
    rows = [
        {"arm": plain(effect.arm), "context": plain(where), **row}
        for effect in effects
        for where, row in _list_rows(effect)
    ]
    return {
        "baseline": plain(effects[0].baseline),
        "baseline_name": effects[0].baseline_name,
        "summary": [each.summary() for each in said],
        "confidence": write_confidence(table, len(rows), "true effect"),
        "rows": rows[:MOST_ROWS],
    }


def _list_rows(effect: Effect) -> Iterable[tuple[Context, Record]]:
    names = {*effect.bounds.treatments, *effect.bounds.context}
    for where, row in zip(effect.intervals, effect.rows(), strict=True):
        yield where, {name: of for name, of in row.items() if name not in names}


def _record_rows(table: BoundTable) -> list[Record]:
    """Record the rows of a table, the first of them with their explanations."""
    names = {*table.treatments, *table.context}
    out = {where: table.ruled_out(where) for where in table.contexts[:MOST_CHOSEN]}
    found = list[Record]()
    for (arm, where), row in islice(zip(table.bounds, table.rows(), strict=True), MOST_ROWS):
        better = out.get(where, {}).get(arm)
        record: Record = {name: of for name, of in row.items() if name not in names}
        record |= {"arm": plain(arm), "context": plain(where), "reasons": []}
        record["ruled_out_by"] = None if better is None else plain(better)
        if len(found) < MOST_EXPLAINED:
            explained = table.explain(arm, where)
            record |= {"explanation": explained.record(), "title": str(explained.title)}
            record["reasons"] = [
                {
                    "rule": each.rule.name,
                    "title": each.title,
                    "data": list(map(str, each.shown)),
                }
                for each in explained.reasons
            ]
        found.append(record)
    return found


def _record_steps(
    steps: Sequence[StepRecord], light: Callable[[StepRecord], LitParts]
) -> Record:
    lit = [light(step) for step in steps]
    shown = [{"words": str(s), "lit": parts} for s, parts in zip(steps, lit, strict=True)]
    return {"steps": shown, "lit": join_lit(lit)}


def choose_arms(table: BoundTable) -> Choice | None:
    """Choose an arm in each context; None where that takes long or makes no sense."""
    if len(table.contexts) > MOST_CHOSEN:
        return None
    try:
        return table.choose()
    except BounditError:
        return None


def answer_check(asked: AskedProject, _: CountKeeper, progress: Progress) -> Record:
    """Ask the log whether it contradicts the drawing; each finding with its missing edge."""
    report = check(asked.graph, asked.open_log(), progress=progress)
    verdict = report.verdict()
    findings = [
        row
        | {
            "reason": write_for_page(each.reason),
            "edge": DrawnEdge(tail=each.statement.one, head=each.statement.other),
        }
        for each, row in zip(report.findings, report.rows(), strict=True)
    ]
    return {
        "contradicted": not report,
        "verdict": f"{verdict[:1].upper()}{verdict[1:]}.",
        "findings": findings,
        "caveats": list(map(write_for_page, report.notes)),
    }


def answer_identify(asked: AskedProject, _: CountKeeper, progress: Progress) -> Record:
    """Say what the graph alone tells; without a question, what it implies."""
    graph, draft = asked.graph, make_draft(asked.project.graph)
    record: Record = {
        "identified": None,
        "implications": [
            _light_names(str(each), {each.one, each.other, *each.given})
            for each in implications(graph)
        ],
        "roles": [],
    }
    if asked.project.query.outcome is None or not asked.project.query.treatments:
        return record
    progress("look for a formula", 0, 1)
    query, light = asked.query, make_lighter(asked.project.graph, graph)
    external = [frozenset(table.columns) & graph.observed for table in asked.open_external()]
    found = identify(graph, query, external=external)

    def light_step(step: Step) -> LitParts:
        walk = step.fact.walk if step.fact else None
        return light_walk(draft, walk) if walk else light(step.record)

    def show(path: Sequence[str]) -> Record:
        return {"words": " ".join(path), "lit": light_walk(draft, path)}

    progress("list adjustment sets and paths", 0, 1)

    wanted, unwanted = asked.project.query.adjust_for, asked.project.query.never_adjust_for
    sets = dict.fromkeys(
        each.covariates
        for table in external or [frozenset()]
        for each in islice(
            adjustment_sets(
                graph,
                query,
                external=table,
                include=graph.observed.intersection(wanted),
                within=graph.observed.difference(unwanted),
            ),
            MOST_LISTED + 1,
        )
    )
    caused = graph.descendants(query.treatments)
    free = graph.observed - caused - {*query.outcomes, *query.context}
    return record | {
        "query": str(query),
        "identified": bool(found),
        "formula": None if found.expression is None else str(found),
        "proof": found.proof,
        "steps": [{"words": str(step), "lit": light_step(step)} for step in found.steps],
        "adjustment_sets": [
            _light_names(join_names(each) or "nothing: no covariate is needed", each)
            for each in islice(sorted(sets, key=len), MOST_LISTED)
        ],
        "more_sets": len(sets) > MOST_LISTED,
        "candidates": sort_names(free | {*wanted, *unwanted}),
        "causal_paths": list(map(show, islice(found.causal_paths, MOST_LISTED))),
        "biasing_paths": list(map(show, islice(found.biasing_paths, MOST_LISTED))),
        "roles": [
            _light_names(f"{role}: {join_names(names)}", names)
            for role, names in list_roles(graph, query)
            if names
        ],
    }


def _light_names(words: str, names: Iterable[str]) -> Record:
    return {"words": words, "lit": LitParts(tuple(sort_names(names)))}


def list_roles(graph: CausalGraph, query: EffectQuery) -> Iterator[tuple[str, Nodes]]:
    """List what the other nodes are to treatments and outcome, by the graph."""
    x, y = frozenset(query.treatments), frozenset(query.outcomes)
    ends, caused = x | y, graph.descendants(x)
    to_x = graph.ancestors(x) - ends
    to_y = graph.without_edges_out_of(x).ancestors(y) - ends
    ways = find_proper_causal_nodes(graph, treatments=x, outcomes=y) - ends
    after = (graph.descendants(y) | caused) - ends - ways
    rest = graph.nodes - ends - to_x - to_y - ways - after
    selection = frozenset((graph.selection,)) if graph.selection else frozenset()
    yield "Confounders, causes of treatment and outcome", to_x & to_y
    yield "Causes of the treatment alone", to_x - to_y
    yield "Causes of the outcome alone", to_y - to_x - ways
    yield "Mediators, on a causal path", ways
    yield "Effects of treatment or outcome, not to be adjusted for", after - selection
    yield "Affects which rows are logged", graph.selecting() - ends - selection
    yield "Others", rest - selection


def answer_report(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> Record:
    """Write the page that ``boundit bound --report`` writes, as one file to take away."""
    table = derive(asked, keeper, progress)
    progress("write the page", 0, 1)
    page = write_bounds_page(
        table,
        graph=asked.graph,
        command=write_command(asked.project, "report", asked.folder) or "",
        choice=choose_arms(table),
        title=asked.project.name,
    )
    name = name_file(asked.project).removesuffix(".boundit.json")
    return {"html": embed_project(page, asked.project), "name": f"{name}.html"}


def plain(values: Sequence[object]) -> list[object]:
    """Write levels for JSON as ``boundit bound --json`` does: dates and times as text."""
    return [v if isinstance(v, int | float | str | None) else str(v) for v in values]

"""What would narrow or overturn the answer, and policies tried in environments that fit."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict

from msgspec.structs import replace

from boundit.core.errors import BounditError
from boundit.core.long_work import Progress
from boundit.core.rounding import ROUNDING
from boundit.counts.sources import ColumnKind
from boundit.decisions.stress import stress_request
from boundit.decisions.stress_report import NOT_COVERED, StressedEdge, measure_width
from boundit.decisions.suggest import suggest_request
from boundit.decisions.suggest_report import Step
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import GraphDraft
from boundit.report.highlights import write_edge
from boundit.simulation.fit import fit_environments
from boundit.simulation.policies import OfflineTables, pick_policies
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import Band
from boundit.studio.answers import CountKeeper, Record, derive
from boundit.studio.ask import AskedProject, write_for_page
from boundit.studio.claims import LitParts, light_edge
from boundit.studio.drawing import make_draft
from boundit.studio.errors import StudioError
from boundit.studio.project import DrawnEdge, Project

ENVIRONMENTS, SEED = 5, 0
"""Number of environments that fit the log, and the seed of all draws."""
MOST_POINTS = 200
"""How many points of a curve are sent."""


class JobProgress:
    """Hears of progress as any ``Progress`` does, and of parts of an answer that can be shown."""

    def __init__(self, tell: Progress, show: Callable[[Record], None]) -> None:
        self._tell, self._show = tell, show

    def __call__(self, step: str, done: int, of: int) -> None:
        """Hear what is being done; every answer calls it."""
        self._tell(step, done, of)

    def show(self, answer: Record) -> None:
        """Hear an answer as far as it is known."""
        self._show(answer)


def show_part(progress: Progress, answer: Record) -> None:
    """Show a part of an answer to whoever wants parts."""
    if isinstance(progress, JobProgress):
        progress.show(answer)


def answer_suggest(asked: AskedProject, _: CountKeeper, progress: Progress) -> Record:
    """Say what would narrow the intervals; what is known is shown while the rest is tried."""
    edges, draft = _list_edges(asked.graph), make_draft(asked.project.graph)
    answer: Record = {}
    for found in suggest_request(asked.make_request(), progress=progress):
        answer = found.record() | {
            "caveats": found.notes,
            "items": [_describe_step(each, found.width, edges, draft) for each in found.steps],
        }
        show_part(progress, answer)
    return answer


def _describe_step(
    each: Step, before: float, edges: dict[str, DrawnEdge], draft: GraphDraft
) -> Record:
    """Describe one step."""
    edge = edges.get(each.what)
    shown = edge and light_edge(draft, write_edge(edge.tail, edge.kind, edge.head))
    lit = shown or LitParts(tuple(name for name in each.variables if name in draft.nodes))
    said = f"{each.what[:1].upper()}{each.what[1:]}: mean width {each.width:.3f}"
    return each.record() | {
        "sentence": f"{said}{each.range and f' ({each.range})'}",
        "cost": each.action,
        "width_before": before,
        "width_after": each.width,
        "edge": edge,
        "lit": lit,
    }


def _list_edges(graph: CausalGraph) -> dict[str, DrawnEdge]:
    """List the edges of a graph by the words of a step."""
    found = dict[str, DrawnEdge]()
    marks = {graph.selection: f"[{graph.selection}]"}
    for kind, edges in (("->", graph.directed), ("<->", graph.bidirected)):
        for a, b in edges:
            edge = DrawnEdge(tail=a, head=b, kind=kind)  # type: ignore[arg-type]
            said = f"{marks.get(a, a)} {kind} {marks.get(b, b)}"
            found[f"the knowledge that {said} is absent"] = edge
    return found


_SUPPOSED = 2.0
"""The limit that a next step supposes; the page says so."""


def answer_help(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> Record:
    """Give the next steps where the data do not narrow the answer, each with its mean width."""
    before = measure_width(derive(asked, keeper, progress))
    steps = list[Record]()
    for step, project in _list_knowledge(asked):
        supposed = AskedProject(project, asked.folder)
        with suppress(BounditError):
            steps.append(step | {"width": measure_width(derive(supposed, keeper, progress))})
    with suppress(BounditError):
        *_, found = suggest_request(asked.make_request(), progress=progress)
        steps += [
            {"kind": each.kind, "words": each.what, "width": each.width, "range": each.range}
            for each in found.pick()
            if each.kind in {"rate", "table", "trial"}
        ]
    gains = [step for step in steps if step["width"] < before - ROUNDING]
    return {"width": before, "steps": sorted(gains, key=lambda step: float(step["width"]))}


def _list_knowledge(asked: AskedProject) -> Iterator[tuple[Record, Project]]:
    """List what could be stated: a value that the log lacks, and limits."""
    project, graph = asked.project, asked.graph
    settings, data = project.settings, project.data
    source = asked.open_file()
    columns = {
        data.columns.get(name, name): name for name in graph.selecting() & graph.observed
    }
    held = [column for column in columns if column in source.kinds]
    for column, n in zip(held, source.count_levels(held), strict=True):
        name = columns[column]
        if n == 1 and name not in data.levels:
            # Which value it is does not change how wide the bounds become.
            level = 0 if source.kinds[column] is ColumnKind.NUMBERS else "(another)"
            levels = data.levels | {name: (level,)}
            step: Record = {
                "kind": "value",
                "words": f"another value of {name}",
                "variable": name,
            }
            yield step, replace(project, data=replace(data, levels=levels))
    if graph.selection is not None and settings.selection_limit is None:
        step = {"kind": "selection_limit", "words": f"a selection limit of {_SUPPOSED:g}"}
        supposed = replace(settings, selection_limit=_SUPPOSED)
        yield step, replace(project, settings=supposed)
    arms = set(project.query.treatments)
    for one, other in sorted(graph.bidirected):
        text = write_edge(one, "<->", other)
        if arms & {one, other} and text not in settings.confounding_limit:
            limits = settings.confounding_limit | {text: _SUPPOSED}
            step = {
                "kind": "confounding_limit",
                "words": f"a confounding limit of {_SUPPOSED:g} on {text}",
                "edge": DrawnEdge(tail=one, head=other, kind="<->"),
            }
            supposed = replace(settings, confounding_limit=limits)
            yield step, replace(project, settings=supposed)


def answer_stress(asked: AskedProject, _: CountKeeper, progress: Progress) -> Record:
    """Add every edge that the drawing leaves out, one at a time, the most harmful first."""
    found = stress_request(asked.graph, asked.make_request(), progress=progress)
    before = measure_width(found.table)
    refuted = bool(found.refutation)
    return found.record() | {
        "items": [_describe_edge(each, before, refuted=refuted) for each in found.edges],
        "apart": found.list_reasons(),
        "not_covered": NOT_COVERED,
        "caveats": list(map(write_for_page, found.notes)),
    }


def _describe_edge(each: StressedEdge, before: float, *, refuted: bool) -> Record:
    """Describe what one missing edge would do."""
    width, n = each.mean_width, len(each.changed)
    if each.refusal:
        said = f"If {each.meaning}: {write_for_page(each.refusal)}"
    elif refuted:
        said = f"If {each.meaning}, the data do not refute the graph."
    elif n:
        said = f"If {each.meaning}, the choice changes in {n} context{'' if n == 1 else 's'}."
    elif width is not None and width > before + ROUNDING:
        said = f"If {each.meaning}, the intervals are wider and the choice is the same."
    else:
        said = f"If {each.meaning}, nothing changes."
    return each.record() | {
        "sentence": said,
        "edge": DrawnEdge(tail=each.edge.tail, head=each.edge.head, kind=each.edge.kind),
        "survives": not (each.changed or each.refusal or refuted),
        "width_before": before,
        "width_after": width,
    }


def answer_simulate(asked: AskedProject, _: CountKeeper, progress: Progress) -> Record:
    """Play policies in environments that fit the log, started from its bounds."""
    how = asked.project.simulate
    if not how.policies:
        raise StudioError("refused", "no policy is chosen", where="simulate.policies")
    graph, query, log = asked.graph, asked.query, asked.open_log()
    options = asked.options
    environments = fit_environments(
        graph,
        query,
        log,
        n=ENVIRONMENTS,
        seed=SEED,
        confidence=options["confidence"],
        selection_rate=options["selection_rate"],
        outcome_range=options["outcome_range"],
        domain=options["domain"],
        progress=progress,
    )
    offline = OfflineTables.from_log(graph, query, log, environments.bounds)
    players = pick_policies(how.policies, offline, exact=False)
    progress("play runs", 0, how.runs * len(environments))
    pooled = simulate(
        environments,
        players,
        rounds=how.rounds,
        runs=how.runs,
        seed=SEED,
        progress=progress,
    )
    lines = pooled.summary()
    best = min(lines, key=lambda one: one.mean)
    return {
        "summary": f"{best.policy} has the least regret: {best.mean:,.1f} over {how.rounds:,} "
        f"rounds on average, in {len(environments)} environments that fit the log.",
        "curves": {band.policy: _record_curve(band) for band in pooled.bands()},
        "policies": [asdict(line) for line in lines],
        "environments": str(environments),
        "caption": pooled.caption,
        "caveats": list(_list_unused(asked)),
    }


def _record_curve(band: Band) -> Record:
    """Record the mean regret of one policy over the rounds, with its interval."""
    kept = _thin(len(band.at))
    parts = {"rounds": band.at, "mean": band.mean, "low": band.lower, "high": band.upper}
    return {name: [values.tolist()[i] for i in kept] for name, values in parts.items()}


def _list_unused(asked: AskedProject) -> Iterator[str]:
    """List the settings that environments are not fitted to."""
    settings = asked.project.settings
    for name, given in (
        ("tables of everyone", settings.external),
        ("the selection limit", settings.selection_limit),
        ("the confounding limits", settings.confounding_limit),
        ("approximate inference", settings.inference == "approximate"),
    ):
        if given:
            yield f"{name}: not used here; environments are fitted to the log alone"


def _thin(n: int) -> list[int]:
    """Choose which points of a curve are sent, the last among them.

    >>> _thin(5), len(_thin(1_000)), _thin(1_000)[-1]
    ([0, 1, 2, 3, 4], 200, 999)
    """
    if n <= MOST_POINTS:
        return list(range(n))
    return sorted({round(i * (n - 1) / (MOST_POINTS - 1)) for i in range(MOST_POINTS)})

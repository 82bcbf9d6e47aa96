"""What would narrow or overturn the answer, and policies tried in environments that fit."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from boundit.core.long_work import Progress
from boundit.core.rounding import ROUNDING
from boundit.decisions.stress import stress_request
from boundit.decisions.stress_report import NOT_COVERED, StressedEdge, measure_width
from boundit.decisions.suggest import suggest_request
from boundit.decisions.suggest_report import Step, SuggestReport
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import GraphDraft
from boundit.report.highlights import write_edge
from boundit.simulation.fit import fit_environments
from boundit.simulation.policies import OfflineTables, pick_policies
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import Line
from boundit.studio.answers import CountKeeper
from boundit.studio.ask import AskedProject, write_for_page
from boundit.studio.claims import LitParts, light_edge
from boundit.studio.drawing import make_draft
from boundit.studio.errors import StudioError
from boundit.studio.project import DrawnEdge

ENVIRONMENTS, SEED = 5, 0
"""Number of environments that fit the log, and the seed of all draws."""
MOST_POINTS = 200
"""How many points of a curve are sent."""


class JobProgress:
    """Hears of progress as any ``Progress`` does, and of parts of an answer that can be shown."""

    def __init__(self, tell: Progress, show: Callable[[Struct], None]) -> None:
        self._tell, self._show = tell, show

    def __call__(self, step: str, done: int, of: int) -> None:
        """Hear what is being done; every answer calls it."""
        self._tell(step, done, of)

    def show(self, answer: Struct) -> None:
        """Hear an answer as far as it is known."""
        self._show(answer)


def show_part(progress: Progress, answer: Struct) -> None:
    """Show a part of an answer to whoever wants parts."""
    if isinstance(progress, JobProgress):
        progress.show(answer)


class NarrowItem(Struct, frozen=True):
    """One thing that could be got or learned, and how wide intervals would then be."""

    sentence: str
    kind: str
    width_before: float
    width_after: float
    least: float
    most: float
    exact: bool
    formula: str
    cost: str
    basis: str
    variables: tuple[str, ...]
    edge: DrawnEdge | None
    lit: LitParts


class SuggestAnswer(Struct, frozen=True):
    """What would narrow the intervals, the narrowest first."""

    sentence: str
    width: float
    endless: float
    items: tuple[NarrowItem, ...]
    useless: tuple[str, ...]
    caveats: tuple[str, ...]


def answer_suggest(asked: AskedProject, _: CountKeeper, progress: Progress) -> SuggestAnswer:
    """Say what would narrow the intervals of a project, and by how much.

    What is known is shown while the rest is tried. A worker finds it in ``ANSWERS`` for the
    kind "suggest".
    """
    for found in suggest_request(asked.make_request(), progress=progress):
        answer = _describe_all(asked, found)
        show_part(progress, answer)
    return answer


def _describe_all(asked: AskedProject, found: SuggestReport) -> SuggestAnswer:
    """Describe all that is suggested."""
    edges, draft = _list_edges(asked.graph), make_draft(asked.project.graph)
    return SuggestAnswer(
        found.summary,
        found.width,
        found.limit,
        tuple(_describe(each, found.width, edges, draft) for each in found.steps),
        found.useless,
        found.notes,
    )


def _describe(
    each: Step, before: float, edges: dict[str, DrawnEdge], draft: GraphDraft
) -> NarrowItem:
    """Describe one step."""
    said = f"{each.what[:1].upper()}{each.what[1:]}: the mean width becomes {each.width:.3f}."
    edge = edges.get(each.what)
    shown = edge and light_edge(draft, write_edge(edge.tail, edge.kind, edge.head))
    return NarrowItem(
        said,
        each.kind,
        before,
        each.width,
        each.lower,
        each.upper,
        bool(each.formula),
        each.formula,
        each.action,
        each.basis,
        each.variables,
        edge,
        shown or LitParts(tuple(name for name in each.variables if name in draft.nodes)),
    )


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


class OverturnItem(Struct, frozen=True):
    """A missing edge, and what becomes of the answer if it is there."""

    sentence: str
    edge: DrawnEdge
    survives: bool
    width_before: float
    width_after: float | None
    regret: float | None
    fallen: int
    lost: int
    test: str | None
    refusal: str


class StressAnswer(Struct, frozen=True):
    """What would overturn the answer, the most harmful first."""

    sentence: str
    items: tuple[OverturnItem, ...]
    apart: tuple[str, ...]
    not_varied: tuple[str, ...]
    caveats: tuple[str, ...]


def answer_stress(asked: AskedProject, _: CountKeeper, progress: Progress) -> StressAnswer:
    """Add every edge that the drawing leaves out, one at a time.

    A worker finds it in ``ANSWERS`` for the kind "stress".
    """
    found = stress_request(asked.graph, asked.make_request(), progress=progress)
    before = measure_width(found.table)
    return StressAnswer(
        found.summary,
        tuple(_describe_edge(e, before, refuted=bool(found.refutation)) for e in found.edges),
        found.list_reasons(),
        NOT_COVERED,
        tuple(map(write_for_page, found.notes)),
    )


def _describe_edge(each: StressedEdge, before: float, *, refuted: bool) -> OverturnItem:
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
    return OverturnItem(
        said,
        DrawnEdge(tail=each.edge.tail, head=each.edge.head, kind=each.edge.kind),
        not (each.changed or each.refusal or refuted),
        before,
        width,
        each.regret,
        n,
        len(each.undecided),
        None if each.test is None else each.data,
        write_for_page(each.refusal),
    )


class RegretCurve(Struct, frozen=True):
    """The mean regret of one policy over the rounds, with a 95 % interval at each."""

    rounds: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class PlayedPolicy(Struct, frozen=True):
    """What one policy lost by the end, and by how much less than the first."""

    policy: str
    mean: float
    low: float
    high: float
    less: float
    less_low: float
    less_high: float
    words: str


class SimulateAnswer(Struct, frozen=True):
    """Curves by policy, and what they come to."""

    sentence: str
    curves: dict[str, RegretCurve]
    policies: tuple[PlayedPolicy, ...]
    environments: str
    caption: str
    caveats: tuple[str, ...]


def answer_simulate(asked: AskedProject, _: CountKeeper, progress: Progress) -> SimulateAnswer:
    """Play policies in environments that fit the log, started from its bounds.

    A worker finds it in ``ANSWERS`` for the kind "simulate".
    """
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
    bands = {band.policy: band for band in pooled.bands()}
    curves = dict[str, RegretCurve]()
    for name, band in bands.items():
        at = band.at.tolist()
        kept = _thin(len(at))
        curves[name] = RegretCurve(
            tuple(at[i] for i in kept),
            *(
                tuple(part.tolist()[i] for i in kept)
                for part in (band.mean, band.lower, band.upper)
            ),
        )
    finals = tuple(_describe_policy(line, how.rounds) for line in pooled.summary())
    best = min(finals, key=lambda one: one.mean)
    return SimulateAnswer(
        f"{best.policy} loses least: {best.mean:,.1f} over {how.rounds:,} rounds on average, "
        f"in {len(environments)} environments that fit the log.",
        curves,
        finals,
        str(environments),
        pooled.caption,
        tuple(_list_unused(asked)),
    )


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


def _describe_policy(line: Line, rounds: int) -> PlayedPolicy:
    """Say what a policy loses by the end.

    Of one run alone there is no interval.
    """
    said = f"{line.policy} loses {line.mean:,.1f} over {rounds:,} rounds on average"
    if line.mean_lower <= line.mean_upper:
        said += f", between {line.mean_lower:,.1f} and {line.mean_upper:,.1f} at 95 %"
    return PlayedPolicy(
        line.policy,
        line.mean,
        line.mean_lower,
        line.mean_upper,
        line.less,
        line.less_lower,
        line.less_upper,
        f"{said}.",
    )

"""What would narrow the intervals, ranked: what ``boundit suggest`` says."""

from msgspec import Struct

from boundit.core.long_work import Progress
from boundit.decisions.suggest.report import Suggestion, SuggestReport
from boundit.decisions.suggest.suggest import suggest_in_turn
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import GraphDraft
from boundit.report.graph.highlights import write_edge
from boundit.studio.answers.bound import CountKeeper
from boundit.studio.answers.progress import show_part
from boundit.studio.ask import AskedProject
from boundit.studio.claims import LitParts, light_edge
from boundit.studio.drawing import make_draft
from boundit.studio.project import DrawnEdge


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
    request = asked.make_request(limits=False)
    for found in suggest_in_turn(request, progress=progress):
        answer = _describe_all(asked, found)
        show_part(progress, answer)
    return answer


def _describe_all(asked: AskedProject, found: SuggestReport) -> SuggestAnswer:
    """Describe all that is suggested."""
    edges, draft = _list_edges(asked.graph), make_draft(asked.project.graph)
    notes = list(found.notes)
    if asked.options["confounding_limit"]:
        notes.append(
            "the limits on hidden confounding are not used here: widths are without them"
        )
    return SuggestAnswer(
        found.summary,
        found.width,
        found.endless,
        tuple(_describe(each, found.width, edges, draft) for each in found.suggestions),
        found.useless,
        tuple(notes),
    )


def _describe(
    each: Suggestion, before: float, edges: dict[str, DrawnEdge], draft: GraphDraft
) -> NarrowItem:
    """Describe one suggestion."""
    said = f"{each.what[:1].upper()}{each.what[1:]}: the mean width becomes {each.width:.3f}."
    edge = edges.get(each.what)
    shown = edge and light_edge(draft, write_edge(edge.tail, edge.kind, edge.head))
    return NarrowItem(
        said,
        each.kind,
        before,
        each.width,
        each.least,
        each.most,
        each.exact,
        each.formula,
        each.cost,
        each.basis,
        each.variables,
        edge,
        shown or LitParts(tuple(name for name in each.variables if name in draft.nodes)),
    )


def _list_edges(graph: CausalGraph) -> dict[str, DrawnEdge]:
    """List the edges of a graph by the words in which a suggestion speaks of them."""
    found = dict[str, DrawnEdge]()
    marks = {graph.selection: f"[{graph.selection}]"}
    for kind, edges in (("->", graph.directed), ("<->", graph.bidirected)):
        for a, b in edges:
            edge = DrawnEdge(tail=a, head=b, kind=kind)  # type: ignore[arg-type]
            said = f"{marks.get(a, a)} {kind} {marks.get(b, b)}"
            found[f"knowing that {said} is not there"] = edge
    return found

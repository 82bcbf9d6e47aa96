"""What a step of an explanation speaks of, as parts of the drawn graph that can be lit up."""

from boundit.core.formula import StepRecord
from boundit.core.names import join_names, write_name
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.paths import list_shortest_paths
from boundit.report.graph.folding import FoldedGraph, fold_groups
from boundit.report.records import PathHighlight

MOST_PATHS = 5
"""How many paths are lit up for one step: the shortest."""


def find_highlight(graph: CausalGraph, step: StepRecord) -> PathHighlight | None:
    """Find what to light up in the drawn graph with a step of an explanation.

    That is both sides of the separation that the step rests on, what is given, and the paths
    between them in the graph without the edges that the step cuts. None for a step without a
    separation, or one that names a variable outside the graph. Called for every step through
    ``_make_finder``, which keeps what was found.

    >>> from boundit.graph.text import parse
    >>> sentence = "Rule 2: do(X) equals conditioning"
    >>> step = StepRecord(sentence, (("Y",), ("X",)), ("Z",), out_of=("X",))
    >>> found = find_highlight(parse("X -> Y; Z -> X; Z -> Y"), step)
    >>> found.edges, found.caption
    (('Z -> Y', 'Z -> X'), 'Path between Y and X without the edges out of X. Blocked given Z.')
    """
    if step.between is None:
        return None
    one, other = step.between
    if not graph.nodes.issuperset((*one, *other, *step.given, *step.into, *step.out_of)):
        return None
    cut = graph.without_edges_into(step.into).without_edges_out_of(step.out_of)
    paths = list_shortest_paths(cut, one, other, most=MOST_PATHS)
    boxes = fold_groups(graph)
    edges = dict.fromkeys(edge for path in paths for edge in _list_edges(path, boxes))
    between, given = (_fold(one, boxes), _fold(other, boxes)), _fold(step.given, boxes)
    return PathHighlight(between, given, tuple(edges), _write_caption(step, paths))


def write_edge(a: str, sign: str, b: str) -> str:
    """Write an edge of a path so that both ways along it are written the same.

    >>> write_edge("X", "<-", "time of day"), write_edge("Y", "<->", "X")
    ('"time of day" -> X', 'X <-> Y')
    """
    if sign == "<-" or (sign == "<->" and b < a):
        a, b = b, a
    return f"{write_name(a)} {'->' if sign == '<-' else sign} {write_name(b)}"


def _fold(nodes: tuple[str, ...], boxes: FoldedGraph) -> tuple[str, ...]:
    """List the boxes that show some nodes, each once."""
    return tuple(dict.fromkeys(map(boxes.find_box, nodes)))


def _list_edges(path: tuple[str, ...], boxes: FoldedGraph) -> list[str]:
    """List the edges along a path as they are drawn, each as text like ``X -> Y``."""
    hops = zip(path[::2], path[1::2], path[2::2], strict=False)
    ends = ((boxes.find_box(a), sign, boxes.find_box(b)) for a, sign, b in hops)
    return [write_edge(a, sign, b) for a, sign, b in ends if a != b]


def _write_caption(step: StepRecord, paths: tuple[tuple[str, ...], ...]) -> str:
    """Write the caption of a step's lit-up paths: in which graph they are, what blocks them."""
    one, other = map(join_names, step.between or ((), ()))
    count = "No path"
    if paths:
        plural = f"{MOST_PATHS} shortest paths" if len(paths) == MOST_PATHS else "Paths"
        count = "Path" if len(paths) == 1 else plural
    parts = (("into", step.into), ("out of", step.out_of))
    cuts = " and ".join(f"{side} {join_names(names)}" for side, names in parts if names)
    without = f" without the edges {cuts}" if cuts else ""
    given = f" given {join_names(step.given)}" if step.given else ""
    blocked = f" Blocked{given}." if paths else ""
    return f"{count} between {one} and {other}{without}.{blocked}"

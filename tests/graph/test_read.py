import inspect
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.reference import list_public_names

import boundit as bd
from boundit.bounds.paper import adjust_for_confounding_only, condition_only
from boundit.core.errors import (
    BounditError,
    GraphError,
    OptionError,
    UnreadableFile,
)
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import (
    GraphFormat,
    detect_format,
    format_graph,
    parse_graph,
    read_graph,
    require_graph,
)
from tests.strategies import graphs, odd_names

TEXT, QUERY = "W -> Z -> X -> Y; Z -> Y", "Y | do(X), Z"
ROWS = {
    "W": [0, 1, 1, 0] * 30,
    "Z": [0, 1, 1, 0, 1, 0] * 20,
    "X": [0, 0, 1, 1, 1] * 24,
    "Y": [0, 1, 1] * 40,
}
FORMATS: tuple[GraphFormat, ...] = ("text", "dot", "dagitty", "json")


@given(graphs() | graphs(names=odd_names), st.sampled_from(FORMATS))
def test_the_format_is_told_by_the_content(graph: CausalGraph, to: GraphFormat) -> None:
    assert parse_graph(format_graph(graph, to)) == graph


@pytest.mark.parametrize("suffix", [".dot", ".gv", ".txt", ".json", ".dagitty", ""])
@pytest.mark.parametrize("to", FORMATS)
def test_a_suffix_that_lies_does_no_harm(tmp_path: Path, suffix: str, to: GraphFormat) -> None:
    graph = parse_graph("X -> Y -> [S]; X <-> Y; Z")
    path = tmp_path / f"graph{suffix}"
    path.write_text(format_graph(graph, to), encoding="utf-8")

    assert read_graph(path) == read_graph(str(path)) == graph


def test_a_marked_node_in_quotes_is_not_taken_for_json() -> None:
    assert parse_graph('["was it kept"] <-> Y').selection == "was it kept"


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    for to in FORMATS:
        path.write_text(format_graph(parse_graph("X -> Y"), to), encoding="utf-8-sig")

        assert read_graph(path) == parse_graph("X -> Y")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.dot", b"diagraph { A }", "line 1, column 1: expected 'digraph', found 'diagraph'"),
        ("g.json", b"directed: X", "line 1, column 1: Expecting value"),
        ("g.txt", b"X -> \xff", "cannot read '{path}': byte 5 is not UTF-8 text"),
        ("g.txt", b"", ("The graph is empty: it has no nodes. "
         "Write at least one edge, as in 'X -> Y'.")),
        ("g.txt", b"dag -> x {", ("line 1, column 10: expected an edge (->, <- or <->), "
         "';' or a new line, found '{{'")),
    ],
)  # fmt: skip
def test_a_file_that_is_no_graph_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(BounditError) as refused:
        read_graph(path)
    assert str(refused.value) == message.format(path=path)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="there is no such file"):
        read_graph(tmp_path / "none.dot")
    with pytest.raises(UnreadableFile, match="it is a directory; name one file"):
        read_graph(tmp_path)
    with pytest.raises(UnreadableFile, match="null"):
        read_graph("a\0b")


def test_other_things_than_text_are_refused() -> None:
    with pytest.raises(BounditError, match="a graph is read from text, found int; for a file"):
        parse_graph(3)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="no graph format 'xml'; there are text, dot"):
        format_graph(parse_graph("X"), "xml")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda g: bd.identify(g, "Y | do(X), Z"),
        lambda g: bd.is_adjustment_set(g, "Y | do(X)", "Z"),
        lambda g: list(bd.adjustment_sets(g, "Y | do(X)")),
        lambda g: bd.estimand.exchanges(g, outcomes="Y", exchanged="X", treatments="Z"),
        lambda g: list(bd.estimand.find_substitutes(g, outcomes="Y", treatments="X")),
        bd.implications,
        lambda g: bd.graph.open_walk(g, "Z", "Y"),
        lambda g: bd.graph.minimal_separator(g, "W", "Y"),
        lambda g: bd.graph.nearest_separator(g, "W", "Y"),
        lambda g: bd.derive_bounds(g, QUERY, ROWS).rows(),
        lambda g: condition_only(g, QUERY, ROWS).rows(),
        lambda g: adjust_for_confounding_only(g, QUERY, ROWS).rows(),
        lambda g: bd.check(g, ROWS).rows(),
        lambda g: bd.stress(g, QUERY, ROWS).summary,
        lambda g: bd.derive_bounds([g], QUERY, ROWS).rows(),
        lambda g: bd.suggest(g, QUERY, ROWS, trial_size=10).rows(),
        lambda g: str(bd.sensitivity(g, QUERY, ROWS, limit="Z -> X", max_limit=2)),
        lambda g: str(
            bd.compare(bd.derive_bounds(g, QUERY, ROWS), 1, bd.LOGGED, log=ROWS, graph=g)
        ),
        lambda g: [world.distance for world in bd.fit_environments(g, QUERY, ROWS, n=1)],
        lambda g: bd.SCM(g, dict.fromkeys("XYZW", ([], 0.5))).distribution().values.tolist(),
    ],
)
def test_text_and_networkx_graphs_are_taken_wherever_a_graph_is(
    call: Callable[[object], object],
) -> None:
    graph = parse_graph(TEXT)
    answers = [_try(call, each) for each in (graph, TEXT, graph.to_networkx())]

    assert answers[0] == answers[1] == answers[2]


def _try(call: Callable[[object], object], graph: object) -> object:
    """What a call gives, or why it refuses: that must not hang on how a graph is written."""
    try:
        return call(graph)
    except bd.BounditError as error:
        return str(error)


def test_every_public_function_takes_a_graph_in_any_form() -> None:
    """But for those that reading a graph itself is made of, and a method of queries."""
    found = set()
    for name in list_public_names():
        public = attrgetter(name)(bd)
        if not callable(public) or isinstance(public, type):
            continue
        annotations = inspect.get_annotations(public)
        if "graph" in annotations and "str" not in str(annotations["graph"]):
            found.add(name)

    assert found == {"graph.project"}


def test_a_door_that_takes_graphs_says_what_is_none() -> None:
    graph = parse_graph("X -> Y")

    assert require_graph(graph) is graph
    assert require_graph("X -> Y") == graph == require_graph(nx.DiGraph([("X", "Y")]))
    with pytest.raises(
        GraphError, match=r"'g\.dot' looks like a file; open it with read_graph"
    ):
        require_graph("g.dot")
    with pytest.raises(GraphError, match="looks like a file; open it with read_graph"):
        require_graph(Path("a graph.txt"))
    with pytest.raises(GraphError, match="found int; give a CausalGraph, its text such as"):
        require_graph(3)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("X -> Y", None),
        ("dag -> Y", None),
        ("// a remark\ndigraph { X -> Y }", "dot"),
        ("strict graph g { }", "dot"),
        ("dag { X -> Y }", "dagitty"),
        ('{"nodes": []}', "json"),
        ("graph [ directed 1 node [ id 0 ] ]", "gml"),
    ],
)
def test_a_text_is_told_by_how_it_opens(text: str, found: str | None) -> None:
    assert detect_format(text) == found

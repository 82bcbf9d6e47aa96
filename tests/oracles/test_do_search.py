"""The oracle is checked too: its separation, its rules on textbook graphs, its verdicts."""

import json
import random
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from tests.oracles.do_search import Term, _Search, derive, derive_all, is_derivable

VERDICTS = Path(__file__).parents[1] / "verdicts"
Pairs = list[tuple[str, str]]


def parse_edges(text: str) -> Pairs:
    """Read ``"XY AB"`` as the edges X to Y and A to B."""
    return [(edge[0], edge[1]) for edge in text.split()]


class Case(NamedTuple):
    directed: str
    bidirected: str
    query: tuple[str, str, str]
    answer: bool


PLAIN = {
    "an unconfounded effect is its conditional": Case("XY", "", ("Y", "X", ""), True),
    "the bow has no formula": Case("XY", "XY", ("Y", "X", ""), False),
    "the back door": Case("ZX ZY XY", "", ("Y", "X", ""), True),
    "the front door": Case("XM MY", "XY", ("Y", "X", ""), True),
    "the front door, open behind": Case("XM MY", "XY XM", ("Y", "X", ""), False),
    "the napkin": Case("AB BX XY", "AX AY", ("Y", "X", ""), True),
    "the instrument alone is not enough": Case("ZX XY", "XY", ("Y", "X", ""), False),
    "an effect does not cause its cause": Case("XY", "XY", ("X", "Y", ""), True),
    "the bow, given a child of the outcome": Case("XY YZ", "XY", ("Y", "X", "Z"), False),
    "the back door, within a stratum": Case("ZX ZY XY", "", ("Y", "X", "Z"), True),
    "M-bias makes the stratum confounded": Case("XY", "ZX ZY", ("Y", "X", "Z"), False),
    "M-bias leaves the effect alone": Case("XY", "ZX ZY", ("Y", "X", ""), True),
}

SELECTED = {
    "selection on the treatment": Case("XY XS", "", ("Y", "X", ""), True),
    "selection on the outcome": Case("XY YS", "", ("Y", "X", ""), False),
    "selection on the treatment's cause": Case("ZX ZS XY", "", ("Y", "X", ""), True),
    "selection on a cause of both": Case("ZX ZY ZS XY", "", ("Y", "X", ""), False),
    "selection on a cause of both, given it": Case("ZX ZY ZS XY", "", ("Y", "X", "Z"), True),
    "the front door, selected at the treatment": Case("XM MY XS", "XY", ("Y", "X", ""), False),
    "an outcome nobody causes": Case("XS", "", ("Y", "X", ""), True),
}


@pytest.mark.parametrize("claim", PLAIN)
def test_plain_textbook_graphs(claim: str) -> None:
    directed, bidirected, (y, do, given), answer = PLAIN[claim]
    assert (
        is_derivable(parse_edges(directed), parse_edges(bidirected), None, y, do, list(given))
        is answer
    )


@pytest.mark.parametrize("claim", SELECTED)
def test_selected_textbook_graphs(claim: str) -> None:
    directed, bidirected, (y, do, given), answer = SELECTED[claim]
    assert (
        is_derivable(parse_edges(directed), parse_edges(bidirected), "S", y, do, list(given))
        is answer
    )


def test_an_unbiased_table_of_the_common_cause_undoes_the_selection() -> None:
    graph = parse_edges("ZX ZY ZS XY")
    assert not is_derivable(graph, [], "S", "Y", "X", [])
    assert is_derivable(graph, [], "S", "Y", "X", [], external=["Z"])


def test_a_derivation_begins_with_data_and_ends_with_the_query() -> None:
    steps = derive(parse_edges("ZX ZY ZS XY"), [], "S", "Y", "X", [], external=["Z"])
    assert {step for step in steps if step.endswith("data")} == {
        "P(X,Y,Z|S) : data",
        "P(Z) : data",
    }
    assert steps[-1].startswith("P(Y|do(X)) :")


def test_one_search_answers_what_single_queries_ask() -> None:
    directed, bidirected = parse_edges("AB BC AC CS"), parse_edges("AC BD")
    terms = derive_all(directed, bidirected, "S", ["A"])
    for y, x, z in ("CBA", "CAB", "BAC", "DBA", "DCB", "CBD"):
        query = Term(frozenset(y), frozenset(z), frozenset(x), selected=False)
        assert is_derivable(directed, bidirected, "S", y, x, z, ["A"]) is (query in terms)


@pytest.mark.parametrize("seed", range(20))
def test_its_separation_is_the_package_s(seed: int) -> None:
    """All pairs, all conditioning sets, on cut graphs: two programs, one answer."""
    rng = random.Random(seed)
    pairs = list(combinations("ABCDE", 2))
    directed = [pair for pair in pairs if rng.random() < 0.4]
    bidirected = [pair for pair in pairs if rng.random() < 0.3]
    no_into, no_out_of = rng.sample("ABCDE", 1), rng.sample("ABCDE", 1)
    search = _Search(directed, bidirected, None, (), "ABCDE")
    graph = CausalGraph.of(directed=directed, bidirected=bidirected, nodes=[*"ABCDE"])
    cut = graph.without_edges_into(no_into).without_edges_out_of(no_out_of)
    for start, end in pairs:
        for given in range(32):
            if not given & search.make_mask([start, end]):
                reached = search.find_connected(
                    search.make_mask([start]),
                    given,
                    search.make_mask(no_into),
                    search.make_mask(no_out_of),
                )
                walk = open_walk(cut, [start], [end], given=search.list_names(given))
                assert bool(reached & search.make_mask([end])) is (walk is not None)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("selection_unconditional", marks=pytest.mark.full),
        pytest.param("id_idc", marks=pytest.mark.full),
        pytest.param("selection_conditional", marks=pytest.mark.full),
        "selection_external",
    ],
)
def test_it_gives_the_labelled_verdicts(kind: str) -> None:
    lines = (VERDICTS / f"{kind}.jsonl").read_text().splitlines()
    for line in map(json.loads, lines):
        query = line["query"]
        found = is_derivable(
            line["directed"],
            line["bidirected"],
            line.get("selection"),
            query["y"],
            query["do"],
            query["given"],
            line.get("external", ()),
        )
        assert found is line["answer"], line["name"]

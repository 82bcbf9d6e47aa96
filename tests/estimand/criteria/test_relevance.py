from itertools import pairwise
from math import comb

from boundit.estimand.criteria.relevance import shortlist
from boundit.graph.causal_graph import CausalGraph
from tests.nodes import make_nodes

# A long chain of causes of Y, and a shorter one by which X acts on it; B confounds the two.
CHAIN = CausalGraph.of(
    directed=[
        *pairwise([*(f"V{i}" for i in range(500)), "Y"]),
        *pairwise(["V200", "B", "X", *(f"M{i}" for i in range(20)), "Y"]),
    ]
)
ROLES = {"outcomes": make_nodes("Y"), "treatments": make_nodes("X"), "context": make_nodes()}
USABLE = CHAIN.nodes - make_nodes("X", "Y")


def test_everything_is_kept_where_every_set_can_be_tried() -> None:
    few = make_nodes("V10", "V9", "V400")

    assert shortlist(CHAIN, few, **ROLES, max_size=3, max_sets=8) == ["V9", "V10", "V400"]


def test_the_list_is_as_long_as_the_number_of_sets_allows() -> None:
    chosen = shortlist(CHAIN, USABLE, **ROLES, max_size=2, max_sets=100)

    assert sum(comb(len(chosen), k) for k in range(3)) <= 100
    assert sum(comb(len(chosen) + 1, k) for k in range(3)) > 100


def test_separators_come_first_then_what_is_near_the_outcome() -> None:
    """V499 and B separate X from Y behind its back, at either end; M19 is next to Y."""
    chosen = shortlist(CHAIN, USABLE, **ROLES, max_size=1, max_sets=5)

    assert chosen == ["B", "M18", "M19", "V499"]

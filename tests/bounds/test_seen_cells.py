"""Estimates from the cells that were seen, against multiplying everything out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bounds.evidence import Counts, Evidence, Probabilities
from boundit.counts.errors import TooLarge
from boundit.counts.formula import evaluate_endpoints, normalise
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace
from boundit.estimand.expression import Expression, P, Product, Ratio, Sum
from boundit.estimand.query import parse_query
from boundit.graph.read import parse_graph
from tests.nodes import make_nodes

X, Y, Z, M = (make_nodes(name) for name in "XYZM")
BACK_DOOR = Sum(Z, Product((P(Y, X | Z), P(Z))))
FRONT_DOOR = Sum(M, Product((P(M, X), Sum(X, Product((P(Y, M | X), P(X)))))))
TWO_STEP = Sum(Z | M, Product((P(Y, X | Z | M), P(M, X | Z), P(Z))))
SIZES = {"X": 2, "Z": 3, "M": 2, "Y": 2}


def read_rows(seed: int, n_rows: int, workspace: Workspace | None = None) -> Probabilities:
    rng = np.random.default_rng(seed)
    rows = {name: rng.integers(0, size, n_rows).tolist() for name, size in SIZES.items()}
    domain = {name: list(range(size)) for name, size in SIZES.items() if name != "Y"}
    table = read_log(rows).count(["X", "Z", "M"], reward="Y", domain=domain)
    counts = Counts(table, "Y")
    graph = parse_graph("X -> Y; Z -> Y; M -> Y")
    workspace = workspace or Workspace.make_default()
    evidence = Evidence(graph, parse_query("Y | do(X)"), counts, (counts,), workspace)
    return Probabilities(evidence)


@given(
    st.sampled_from((BACK_DOOR, FRONT_DOOR, TWO_STEP, P(Y, X | Z))),
    st.integers(0, 2**32 - 1),
    st.integers(2, 200),
)
@settings(max_examples=100, deadline=None)
def test_seen_cells_give_the_sum_where_all_were_seen_and_lie_within_it_elsewhere(
    formula: Expression, seed: int, n_rows: int
) -> None:
    numbers, own = read_rows(seed, n_rows), normalise(formula)
    axes, (low, high) = evaluate_endpoints(own, numbers)

    found = numbers.sum_over_seen(own)

    assert found is not None
    least, most = (end.align(axes) for end in found)
    same = low == high
    assert np.allclose(least[same], low[same], rtol=1e-9)
    assert np.allclose(most[same], high[same], rtol=1e-9)
    assert (least >= low - 1e-9).all()
    assert (most.clip(0, 1) <= high.clip(0, 1) + 1e-9).all()


def test_what_was_not_seen_counts_as_the_whole_range_with_its_weight() -> None:
    """One stratum has no row of X=1: its weight is what the endpoints differ by."""
    rows = {"X": [0, 1, 0, 0], "Z": [0, 0, 1, 1], "Y": [1, 1, 0, 1]}
    counts = Counts(read_log(rows).count(["X", "Z"], reward="Y"), "Y")
    graph, query = parse_graph("Z -> X -> Y; Z -> Y"), parse_query("Y | do(X)")
    numbers = Probabilities(Evidence(graph, query, counts, (counts,), Workspace.make_default()))

    found = numbers.sum_over_seen(normalise(BACK_DOOR))

    assert found is not None
    low, high = (end.align(("X", "Y")) for end in found)
    assert low.tolist() == [[0.25, 0.75], [0, 0.5]]
    assert high.tolist() == [[0.25, 0.75], [0.5, 1]]


def test_formulas_that_cannot_be_read_term_after_term_are_left() -> None:
    numbers = read_rows(0, 9)
    circle = Sum(Z | M, Product((P(Z, M), P(M, Z))))
    twice = Sum(Z, Product((P(Z), P(Z, X))))
    for formula in (Ratio(P(X | Z), P(Z)), circle, twice):
        assert numbers.sum_over_seen(normalise(formula)) is None


def test_lines_that_would_not_fit_are_refused() -> None:
    with pytest.raises(TooLarge, match="memory_limit"):
        read_rows(3, 60, Workspace(8 * 8 * 3)).sum_over_seen(normalise(FRONT_DOOR))

import numpy as np
import pytest

from boundit.bounds.models.rule import find_model_adjustment
from boundit.estimand.adjustment import adjusts_in_context
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_graph


@pytest.mark.parametrize(
    ("text", "query", "tables", "found"),
    [
        ("Z -> X -> Y; Z -> Y", "Y | do(X)", [], "Z"),
        ("Z -> X -> Y; Z -> Y; I -> X", "Y | do(X)", [], "Z"),
        ("Z -> X -> Y; Z -> Y; R -> Y", "Y | do(X)", [], "RZ"),
        ("Z -> X -> M -> Y; Z -> Y", "Y | do(X)", [], "Z"),
        ("Z -> X -> Y; Z -> Y; C -> X; C -> Y", "Y | do(X), C", [], "Z"),
        ("Z -> X -> Y; Z -> Y; Z -> [S]", "Y | do(X)", [], None),
        ("Z -> X -> Y; Z -> Y; Z -> [S]", "Y | do(X)", ["Z"], "Z"),
        ("Z -> X -> Y; Z -> Y; X -> [S]", "Y | do(X)", [], None),
        ("Z -> X -> Y; Z -> Y; X -> [S]", "Y | do(X)", ["Z"], "Z"),
        ("X -> Y; X <-> Y", "Y | do(X)", [], None),
        ("X -> Y", "Y | do(X)", [], ""),
        ("A -> X <- B; A -> Y; B -> Y; X -> Y; A <-> B", "Y | do(X)", [], "AB"),
    ],
)
def test_covariates_that_tell_of_rewards_are_found(
    text: str, query: str, tables: list[str], found: str | None
) -> None:
    graph = parse(text)
    adjustment = find_model_adjustment(
        graph, parse_query(query), graph.observed, [frozenset(of) for of in tables]
    )

    assert (adjustment and adjustment.covariates) == (
        None if found is None else frozenset(found)
    )


def test_only_columns_of_the_log_are_taken() -> None:
    graph, query = parse("U -> Z -> X -> Y; U -> Y"), parse_query("Y | do(X)")

    assert find_model_adjustment(graph, query, "ZXY", []) == (frozenset("Z"), frozenset())
    assert find_model_adjustment(graph, query, "XY", []) is None


def test_whatever_is_found_adjusts() -> None:
    """On random graphs, with and without selection and tables."""
    rng, n_found = np.random.default_rng(0), 0
    for _ in range(200):
        graph = draw_graph(6, rng, selection=bool(rng.random() < 0.5))
        x, y, *others = rng.permutation(sorted(graph.observed)).tolist()
        query = parse_query(f"{y} | do({x})")
        table = frozenset(others[:3])
        found = find_model_adjustment(graph, query, graph.observed, [table])
        if found is None:
            continue
        n_found += 1
        assert adjusts_in_context(
            graph, covariates=found.covariates, treatments=x, outcomes=y, table=found.table
        )
    assert n_found > 50

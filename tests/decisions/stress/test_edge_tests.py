"""Which missing edges the log could have shown, and with what power."""

import numpy as np

from boundit.bounds.request import read_request
from boundit.core.long_work import FOR_EVER
from boundit.decisions.stress.edge_tests import find_tests
from boundit.graph.text import parse

GRAPH = parse("Z -> X -> Y; W")
RNG = np.random.default_rng(0)
Z, W = RNG.integers(2, size=(2, 900))
X = np.where(RNG.random(900) < 0.8, Z, 1 - Z)
Y = np.where(RNG.random(900) < 0.7, Z, X)
ROWS = {"Z": Z.tolist(), "X": X.tolist(), "Y": Y.tolist(), "W": W.tolist()}


def test_pairs_that_the_graph_keeps_apart_are_tested() -> None:
    tests, _ = find_tests(GRAPH, read_request(GRAPH, "Y | do(X)", ROWS), FOR_EVER, 0.05)

    assert frozenset("XY") not in tests, "an edge joins them"
    against = tests[frozenset("ZY")]
    assert against.status == "contradicted"
    assert against.statement == "Y _||_ Z | X"
    assert against.mark == "the log speaks for it"
    silent = tests[frozenset("WX")]
    assert silent.status == "consistent"
    assert silent.detectable is not None
    assert 0.05 < silent.detectable < 0.3
    assert silent.mark == f"absence tested, V >= {silent.detectable:.2g} would be seen"


def test_fewer_rows_would_see_less() -> None:
    few = {name: column[:60] for name, column in ROWS.items()}
    tests, _ = find_tests(GRAPH, read_request(GRAPH, "Y | do(X)", few), FOR_EVER, 0.05)
    many, _ = find_tests(GRAPH, read_request(GRAPH, "Y | do(X)", ROWS), FOR_EVER, 0.05)

    few_least, many_least = (each[frozenset("WX")].detectable for each in (tests, many))
    assert many_least is not None
    assert few_least is None or few_least > many_least


def test_a_log_that_cannot_be_tested_is_said_to_be() -> None:
    rows = ROWS | {"W": (RNG.random(900)).tolist()}
    tests, notes = find_tests(GRAPH, read_request(GRAPH, "Y | do(X)", rows), FOR_EVER, 0.05)

    assert not tests
    assert str(notes[0]).startswith("no missing edge was tested on the log: ")

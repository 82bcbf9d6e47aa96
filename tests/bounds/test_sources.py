"""Counts as evidence: failures, pooled sources, and what rounding leaves."""

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.evidence import Counts, Evidence, Probabilities, pool
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace
from boundit.estimand.expression import P

GRAPH = bd.parse_graph("Z -> X -> Y; Z -> Y; Z -> [S]")
QUERY = bd.parse_query("Y | do(X)")
Z, ZX = frozenset("Z"), frozenset("ZX")


def count(
    columns: dict[str, list[int]], *, outcome: bool = False, exact: bool = False
) -> Counts:
    names = [name for name in columns if name not in "Yn"]
    log = read_log(columns, weight="n" if exact else None, exact=exact)
    table = log.count(names, reward="Y" if outcome else None)
    return Counts(table.add_levels({name: [0, 1] for name in names}), "Y" if outcome else None)


def gather(*tables: Counts) -> Evidence:
    log = count({"Z": [0, 1], "X": [0, 1], "Y": [0, 1]}, outcome=True)
    return Evidence(GRAPH, QUERY, log, tables, Workspace.make_default(), pools=True)


def test_rows_of_several_sources_of_one_distribution_add_up() -> None:
    one, other = count({"Z": [0, 0, 1], "X": [0, 1, 1]}), count({"Z": [1, 1]})
    evidence = gather(one, other)
    assert evidence.count(P(Z, logged=False))[0].values.tolist() == [2, 3]
    assert evidence.find(P(Z, logged=False)).table.rows == 5
    # The narrower table does not have X.
    assert evidence.find(P(frozenset("X"), Z, logged=False)) is one
    assert evidence.find(P(Z)) is evidence.log


def test_pooled_sources_add_up_outcomes() -> None:
    tables = [
        count({"Z": [0, 1, 1], "Y": [0, 1, 1]}, outcome=True),
        count({"Z": [0, 1], "X": [0, 1], "Y": [1, 0]}, outcome=True),
    ]
    found = pool(tables, frozenset("ZY"))
    assert found.marginalize(frozenset("ZY")).align(("Z", "Y")).tolist() == [[1, 1], [1, 2]]
    assert found.sum_squares(frozenset("ZY")).align(("Z", "Y")).tolist() == [[1, 1], [1, 2]]


def test_an_exact_table_is_not_mixed_with_counted_rows() -> None:
    exact = count({"Z": [0, 1], "n": [0.25, 0.75]}, exact=True)  # type: ignore[list-item]
    evidence = gather(count({"Z": [0, 0, 1]}), exact)
    assert evidence.find(P(Z, logged=False)) is exact
    assert evidence.count(P(Z, logged=False))[0].values.tolist() == [0.25, 0.75]


def test_few_failures_among_many_successes_are_counted_themselves() -> None:
    cells = {"Z": [0, 0, 1, 1], "X": [0, 1, 0, 1], "Y": [1, 0, 1, 0]}
    exact = [0.5, 1e-15, 0.5 - 2e-15, 1e-15]
    log = read_log(cells | {"n": exact}, weight="n", exact=True)
    counts = Counts(log.count(["Z", "X"], reward="Y"), "Y")
    failures = counts.marginalize(frozenset("Y")).values[0]
    assert failures == pytest.approx(2e-15, rel=1e-3)


def test_what_rounding_left_of_rare_failures_is_an_interval() -> None:
    cells = {"Z": [0, 0], "X": [0, 0], "Y": [0, 1]}
    log = read_log(cells | {"n": [1e-14, 1 - 1e-14]}, weight="n", exact=True)
    counts = Counts(log.count(["Z", "X"], reward="Y"), "Y")
    evidence = Evidence(GRAPH, QUERY, counts, (), Workspace.make_default())
    low, high = Probabilities(evidence).read_term(P(frozenset("Y"))).arrays
    assert low[0] < 1e-14 < high[0]
    assert high[0] - low[0] < 1e-14


def test_cells_without_rows_may_have_any_probability() -> None:
    log = count({"Z": [0, 0], "X": [0, 1], "Y": [1, 0]}, outcome=True)
    evidence = Evidence(GRAPH, QUERY, log, (), Workspace.make_default())
    low, high = Probabilities(evidence).read_term(P(frozenset("Y"), ZX)).arrays
    assert np.array_equal(low[1], np.zeros((2, 2)))
    assert np.array_equal(high[1], np.ones((2, 2)))


def test_external_data_that_lost_rows_need_not_be_unselected() -> None:
    rows = {"Z": [0, 1] * 50, "X": [0, 0, 1, 1] * 25, "Y": [0, 1, 1, 0] * 25}
    cohort = {"Z": [0, 1] * 100, "Y": [0, None, 1, 1] * 50}
    with pytest.warns(bd.BounditWarning, match="lost rows with missing values \\(Y\\)"):
        bounds = bd.derive_bounds(GRAPH, QUERY, rows, external=[cohort])
    assert bounds.caveats[0].code == "external-missing"
    assert not bd.derive_bounds(GRAPH, QUERY, rows, external=[{"Z": [0, 1] * 100}]).critical

"""Clusters: how often each fell into each cell, and each counted once."""

import numpy as np
import pandas as pd
import pytest

from boundit.counts.clusters import ClusterLines
from boundit.counts.errors import (
    ClustersDiffer,
    HasNulls,
    InvalidOption,
    MissingColumn,
    TooManyClusters,
)
from boundit.counts.read import read_log

ROWS: dict[str, list[object]] = {
    "X": ["a", "a", "b", "a", "b"],
    "Y": [1, 1, 0, 0, 1],
    "user": [7, 7, 9, 11, 9],
}


def test_entries_add_up_to_the_lines_they_cut_up() -> None:
    rng = np.random.default_rng(0)
    n = 500
    rows = {
        "X": rng.integers(3, size=n),
        "C": rng.integers(4, size=n),
        "Y": rng.random(n).round(2),
        "user": rng.integers(60, size=n),
    }
    frame = pd.DataFrame(rows)
    table = read_log(frame).count(["X", "C"], reward="Y", cluster="user")
    plain = read_log(frame).count(["X", "C"], reward="Y")
    assert (table.n == plain.n).all()
    assert table.sums is not None
    assert np.allclose(table.sums, plain.sums)  # type: ignore[arg-type]
    found = table.clusters
    assert found is not None
    assert found.n_clusters == len(set(rows["user"].tolist()))
    assert np.bincount(found.line, found.n).tolist() == table.n.tolist()
    assert np.allclose(np.bincount(found.line, found.sums), table.sums)
    by_user = frame.groupby("user")["Y"].sum().to_numpy()
    assert np.allclose(np.bincount(found.cluster, found.sums), by_user)
    wider = table.add_levels({"X": [-1]})
    assert wider.clusters is found
    for line in range(len(table.n)):
        cell = frame[
            (table.levels["X"][table.codes[line, 0]] == frame.X)
            & (table.levels["C"][table.codes[line, 1]] == frame.C)
        ]
        users = found.n[found.line == line]
        assert sorted(users) == sorted(cell.groupby("user").size())


def test_each_cluster_whose_rows_agree_counts_once() -> None:
    rows = {name: values * 3 for name, values in ROWS.items()}
    rows["user"] = [*range(5)] * 3
    once = read_log(rows).count(["X"], reward="Y", cluster="user").count_clusters_once()
    plain = read_log(ROWS).count(["X"], reward="Y")
    assert once.n.tolist() == plain.n.tolist()
    for name in ("sums", "squares", "lowest", "highest"):
        assert getattr(once, name).tolist() == getattr(plain, name).tolist()
    assert "5 clusters by user was counted once" in once.caveats[-1]
    assert "15 rows" in once.caveats[-1]
    alone = read_log(rows).count(["X"], cluster="user").count_clusters_once()
    assert (alone.n.tolist(), alone.sums) == ([3, 2], None)
    assert plain.count_clusters_once() is plain


def test_clusters_that_differ_are_counted_and_refused() -> None:
    table = read_log(ROWS).count(["X"], reward="Y", cluster="user")
    assert table.clusters is not None
    assert table.clusters.find_differing().tolist() == [False, True, False]
    with pytest.raises(
        ClustersDiffer, match=r"1 of 3 clusters by 'user' have rows that differ in X, Y"
    ):
        table.count_clusters_once()
    rows = ROWS | {"X": ["a", "b", "b", "a", "b"]}
    table = read_log(rows).count(["X"], cluster="user")
    with pytest.raises(ClustersDiffer, match=r"1 of 3 .* pass inference='approximate'"):
        table.count_clusters_once()


def test_a_weighted_cluster_counts_once_and_one_without_weight_not_at_all() -> None:
    rows = {"X": ["a", "b", "b"], "n": [4, 2, 0], "user": ["u", "v", "w"]}
    table = read_log(rows, weight="n").count("X", cluster="user")
    assert table.clusters is not None
    assert (table.clusters.n_clusters, table.clusters.n.tolist()) == (2, [4, 2])
    assert table.count_clusters_once().n.tolist() == [1, 1]


def test_cells_of_one_cluster_in_one_line_are_joined() -> None:
    numbers = {
        "n": np.array([1.0, 2.0, 3.0]),
        "sums": np.array([1.0, 0.0, 2.0]),
        "lowest": np.array([1.0, 0.0, 0.5]),
        "highest": np.array([1.0, 0.0, 1.0]),
    }
    found = ClusterLines.from_cells("u", np.array([5, 5, 3]), np.array([0, 0, 0]), numbers)
    assert (found.n_clusters, found.n.tolist()) == (2, [3.0, 3.0])
    assert found.find_differing().all()


def test_what_is_no_cluster_is_refused() -> None:
    log = read_log(ROWS | {"Z": [1, 2, 3, 4, 5]}, bins={"Z": [3]})
    with pytest.raises(MissingColumn, match="no column 'usr'; did you mean 'user'"):
        log.count("X", cluster="usr")
    with pytest.raises(InvalidOption, match="the cluster 'Y' is the reward"):
        log.count("X", reward="Y", cluster="Y")
    with pytest.raises(InvalidOption, match="the cluster 'Z' is cut into bins"):
        log.count("X", cluster="Z")
    with pytest.raises(InvalidOption, match="a cluster is the name of a column, found 3"):
        log.count("X", cluster=3)  # type: ignore[arg-type]
    law = read_log({"X": [0, 1], "p": [0.5, 0.5], "u": [1, 2]}, weight="p", exact=True)
    with pytest.raises(InvalidOption, match="no meaning for an exact law"):
        law.count("X", cluster="u")
    with pytest.raises(HasNulls, match="'user' is null or NaN in 1 of 5 rows; give each row"):
        read_log(ROWS | {"user": [1, None, 2, 3, 4]}).count("X", cluster="user")


def test_a_million_clusters_fit_or_are_refused_by_the_limit() -> None:
    n = 200_000
    frame = pd.DataFrame({"X": np.arange(n) % 2, "user": np.arange(n) // 2 * 2})
    table = read_log(frame).count("X", cluster="user")
    assert table.clusters is not None
    assert table.clusters.n_clusters == n // 2
    with pytest.raises(TooManyClusters, match="cut up by the cluster 'user'"):
        read_log(frame).count("X", cluster="user", memory_limit=10**6)


def test_a_cluster_may_be_a_variable_too() -> None:
    table = read_log(ROWS).count(["user", "X"], cluster="user")
    assert table.clusters is not None
    assert table.clusters.n_clusters == len(table.levels["user"])

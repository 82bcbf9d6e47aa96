"""Marginals of a sparse table are those of the dense one."""

import numpy as np
import pandas as pd
import pytest

from boundit.core.errors import DataError, OptionError
from boundit.counts.errors import ClustersDiffer, MissingColumn, TooLarge, TooManyCells
from boundit.counts.log import read_log
from boundit.counts.table import CountTable, merge_cells, share_levels, warn_of_strange_levels

RNG = np.random.default_rng(3)
ROWS = {
    name: RNG.integers(0, n, 500).tolist() for name, n in zip("ABCD", (2, 3, 4, 2), strict=True)
}
REWARD = (RNG.integers(-8, 9, 500) / 4).tolist()
TABLE = read_log({**ROWS, "Y": REWARD}).count([*"ABCD"], reward="Y")


def dense(weights: list[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    array = np.zeros((2, 3, 4, 2))
    np.add.at(array, tuple(np.array(ROWS[name]) for name in "ABCD"), weights)
    return array


@pytest.mark.parametrize("names", ["", "A", "CB", "DAB", "ABCD"])
def test_marginals_are_those_of_the_dense_table(names: str) -> None:
    gone = tuple(i for i, name in enumerate("ABCD") if name not in names)
    squares = [y * y for y in REWARD]

    assert TABLE.marginalize(set(names)).axes == tuple(sorted(names))
    assert (TABLE.marginalize(set(names)).values == dense([1] * 500).sum(gone)).all()
    assert np.allclose(TABLE.sum_rewards(set(names)).values, dense(REWARD).sum(gone))
    assert np.allclose(TABLE.sum_squares(set(names)).values, dense(squares).sum(gone))


def test_cells_beyond_the_range_of_one_integer_stay_apart() -> None:
    """Twenty variables of 50 levels: their 50 ** 20 combinations do not fit into 64 bits."""
    codes = RNG.integers(0, 50, (300, 20))
    twice = np.concatenate([codes, codes[::-1]])
    joined, n, _, _ = merge_cells(twice, [50] * 20, np.ones(600), {})

    assert (n == 2).all()
    assert joined.tolist() == sorted(codes.tolist())


def test_the_rows_are_the_total() -> None:
    assert float(TABLE.marginalize(())) == TABLE.rows == 500


def test_wider_levels_keep_the_counts() -> None:
    wider = TABLE.add_levels({"A": [-1, 0], "B": ["x"], "Z": [1]})

    assert wider.levels["A"] == (-1, 0, 1)
    assert wider.shape == (3, 4, 4, 2)
    assert (wider.marginalize("A").values == [0, *TABLE.marginalize("A").values]).all()
    assert (wider.codes == merge_cells(wider.codes, wider.shape, wider.n, {})[0]).all()
    with pytest.raises(DataError):
        TABLE.add_levels({"A": ["1"]})


def test_a_dense_table_that_would_not_fit_is_refused() -> None:
    levels = {name: tuple(range(200)) for name in "XYZW"}
    codes = np.zeros((1, 4), dtype=np.int64)
    table = CountTable(tuple("XYZW"), levels, codes, np.ones(1))

    assert table.marginalize({"X", "Y", "Z"}).values.size == 200**3
    with pytest.raises(TooLarge, match="W, X, Y, Z has 1,600,000,000 cells, more than"):
        table.marginalize(table.variables)


def test_without_a_reward_there_are_no_sums() -> None:
    table = read_log({"X": [1]}).count("X")

    assert table.sums is None
    with pytest.raises(DataError, match="the table holds no reward; count with reward="):
        table.sum_rewards("X")


def test_numbers_cannot_be_changed_from_outside() -> None:
    for array in (TABLE.codes, TABLE.n, TABLE.sums):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_it_says_what_it_is() -> None:
    assert (
        str(TABLE) == "CountTable of A, B, C, D: 500 rows in 48 of 48 cells, with the reward Y"
    )
    law = read_log({"p": [1, 3]}, weight="p", exact=True).count([])
    assert repr(law) == "CountTable of no variables: an exact distribution in 1 of 1 cells"


CLUSTERED: dict[str, list[object]] = {
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
    rows = {name: values * 3 for name, values in CLUSTERED.items()}
    rows["user"] = [*range(5)] * 3
    once = read_log(rows).count(["X"], reward="Y", cluster="user").count_clusters_once()
    plain = read_log(CLUSTERED).count(["X"], reward="Y")
    assert once.n.tolist() == plain.n.tolist()
    for name in ("sums", "squares", "lowest", "highest"):
        assert getattr(once, name).tolist() == getattr(plain, name).tolist()
    assert "5 clusters by user was counted once" in once.caveats[-1]
    assert "15 rows" in once.caveats[-1]
    alone = read_log(rows).count(["X"], cluster="user").count_clusters_once()
    assert (alone.n.tolist(), alone.sums) == ([3, 2], None)
    assert plain.count_clusters_once() is plain


def test_clusters_that_differ_are_counted_and_refused() -> None:
    table = read_log(CLUSTERED).count(["X"], reward="Y", cluster="user")
    with pytest.raises(
        ClustersDiffer, match=r"1 of 3 clusters by 'user' have rows that differ in X, Y"
    ):
        table.count_clusters_once()
    rows = CLUSTERED | {"X": ["a", "b", "b", "a", "b"]}
    table = read_log(rows).count(["X"], cluster="user")
    with pytest.raises(ClustersDiffer, match=r"1 of 3 .* Use inference='approximate'"):
        table.count_clusters_once()


def test_a_weighted_cluster_counts_once_and_one_without_weight_not_at_all() -> None:
    rows = {"X": ["a", "b", "b"], "n": [4, 2, 0], "user": ["u", "v", "w"]}
    table = read_log(rows, weight="n").count("X", cluster="user")
    assert table.clusters is not None
    assert (table.clusters.n_clusters, table.clusters.n.tolist()) == (2, [4, 2])
    assert table.count_clusters_once().n.tolist() == [1, 1]


def test_what_is_no_cluster_is_refused() -> None:
    log = read_log(CLUSTERED | {"Z": [1, 2, 3, 4, 5]}, bins={"Z": [3]})
    with pytest.raises(MissingColumn, match=r"no column 'usr'\. Did you mean 'user'"):
        log.count("X", cluster="usr")
    with pytest.raises(OptionError, match="the cluster 'Y' is the reward"):
        log.count("X", reward="Y", cluster="Y")
    with pytest.raises(OptionError, match="the cluster 'Z' is cut into bins"):
        log.count("X", cluster="Z")
    with pytest.raises(OptionError, match="a cluster is the name of a column, found 3"):
        log.count("X", cluster=3)  # type: ignore[arg-type]
    law = read_log({"X": [0, 1], "p": [0.5, 0.5], "u": [1, 2]}, weight="p", exact=True)
    with pytest.raises(OptionError, match="no meaning for an exact distribution"):
        law.count("X", cluster="u")
    with pytest.raises(DataError, match="'user' is null or NaN in 1 of 5 rows; give each row"):
        read_log(CLUSTERED | {"user": [1, None, 2, 3, 4]}).count("X", cluster="user")


def test_a_million_clusters_fit_or_are_refused_by_the_limit() -> None:
    n = 200_000
    frame = pd.DataFrame({"X": np.arange(n) % 2, "user": np.arange(n) // 2 * 2})
    table = read_log(frame).count("X", cluster="user")
    assert table.clusters is not None
    assert table.clusters.n_clusters == n // 2
    with pytest.raises(TooManyCells, match="cut up by the cluster 'user'"):
        read_log(frame).count("X", cluster="user", memory_limit=10**6)


def test_a_cluster_may_be_a_variable_too() -> None:
    table = read_log(CLUSTERED).count(["user", "X"], cluster="user")
    assert table.clusters is not None
    assert table.clusters.n_clusters == len(table.levels["user"])


def counted(**columns: list[object]) -> CountTable:
    return read_log(columns).count(list(columns))


def test_all_tables_get_the_levels_of_all_and_those_declared() -> None:
    log, survey = counted(X=["a", "b"], Z=[0, 1]), counted(X=["c"])
    one, other = share_levels(log, [survey], {"X": ["d"], "Q": [1]})

    assert one.levels == {"X": ("a", "b", "c", "d"), "Z": (0, 1)}
    assert other.levels == {"X": ("a", "b", "c", "d")}
    assert one.marginalize("X").values.tolist() == [1, 1, 0, 0]
    assert other.marginalize("X").values.tolist() == [0, 0, 1, 0]


def test_a_level_that_only_an_external_table_has_is_a_caveat_of_that_table() -> None:
    log = counted(Age=["young", "old"], Z=[0, 1])
    surveys = [counted(Age=["young", "old"]), counted(Age=["yuong"], Z=[2])]
    first, fine, slip = share_levels(log, surveys)

    assert first.caveats == fine.caveats == ()
    assert slip.caveats == (
        "Age is never 'yuong' in the log, only in the dict of columns: a slip for 'young'? "
        "If it is right, declare it with domain=",
        "Z is never 2 in the log, only in the dict of columns: if that is right, declare it "
        "with domain=",
    )


def test_what_is_declared_is_no_slip_and_what_the_log_lacks_is_no_matter() -> None:
    log, survey = counted(Age=["young", "old"]), counted(Age=["child", "old"], Town=["A", "B"])

    assert all(not table.caveats for table in share_levels(log, [survey], {"Age": ["child"]}))


def test_one_level_in_two_types_is_refused() -> None:
    with pytest.raises(DataError):
        share_levels(counted(X=[0, 1]), [counted(X=["0", "1"])])


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (("YOUNG",), "never 'YOUNG' in the log, only in 'a.csv': a slip for 'young'?"),
        (("yuong", "odl"), "never 'yuong', 'odl' in the log"),
        ((1, 2, 3, 4, 5), "never 1, 2, 3 and 2 more in the log, only in 'a.csv': if that is"),
    ],
)
def test_strange_levels_are_shown_and_the_nearest_known(
    found: tuple[object, ...], shown: str
) -> None:
    (said,) = warn_of_strange_levels("Age", found, ("old", "young"), "'a.csv'")

    assert shown in str(said)

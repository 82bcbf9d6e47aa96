import numpy as np
import pytest
from scipy import stats

from boundit.simulation.summary import compute_half_width
from boundit_research.online.log_study_rows import LogRegrets, summarize_logs

RNG = np.random.default_rng(0)
WORLDS = [
    LogRegrets(
        "random",
        f"world {i}",
        1_000,
        {"LinUCB": RNG.exponential(50, 30).tolist(), "TS": RNG.normal(50 + i, 5, 30).tolist()},
    )
    for i in range(4)
]


def test_one_world_has_students_interval_of_paired_differences() -> None:
    first, other = summarize_logs(WORLDS[:1])
    one, two = (np.array(finals) for finals in WORLDS[0].finals.values())

    assert (first.less, first.less_lower, first.less_upper) == (0, 0, 0)
    assert (other.mean, other.median) == (two.mean(), np.median(two))
    assert other.q95 == np.quantile(two, 0.95)
    assert other.less == pytest.approx((one - two).mean())
    half = float(compute_half_width(one - two))
    assert (other.less_upper - other.less_lower) / 2 == pytest.approx(half)


def test_worlds_are_strata() -> None:
    """The variance of a mean over worlds is that of each world's mean, added up."""
    _, other = summarize_logs(WORLDS)
    gaps = [np.array(w.finals["LinUCB"]) - np.array(w.finals["TS"]) for w in WORLDS]

    assert (other.worlds, other.runs) == (4, 120)
    assert other.less == pytest.approx(np.mean([gap.mean() for gap in gaps]))
    error = np.sqrt(sum(gap.var(ddof=1) / 30 for gap in gaps)) / 4
    assert other.less_upper - other.less == pytest.approx(stats.t.ppf(0.975, 116) * error)


def test_worlds_that_are_worse_beyond_chance_are_counted() -> None:
    worse = [
        LogRegrets("r", str(i), 10, {"LinUCB": [1.0, 2, 3], "TS": [9.0, 10 + shift, 11]})
        for i, shift in enumerate((0.1, 0.2))
    ]
    _, other = summarize_logs(worse)

    assert (other.worse, other.better) == (2, 0)
    assert str(other).endswith("; worse in 2, better in 0")


def test_groups_and_lengths_stay_apart_in_their_order() -> None:
    found = [LogRegrets(g, g, n, {"LinUCB": [1.0]}) for g in ("b", "a") for n in (30, 10)]
    rows = summarize_logs(found)

    assert [(row.group, row.points) for row in rows] == [
        ("b", 30),
        ("b", 10),
        ("a", 30),
        ("a", 10),
    ]
    assert rows[0].to_record()["less_lower"] is None

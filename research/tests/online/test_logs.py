"""A log for each run: its distribution, who starts from it, and how runs are summed up."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from boundit.bandit.policy import Policy
from boundit.simulation.environments import flipped_environment, paper_environment
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.summary import compute_half_width
from boundit_research.online.logs import (
    OWN,
    LogRow,
    LogSettings,
    RunLogs,
    make_sources,
    run_log_study,
)
from boundit_research.online.worlds import Assumed

FLIPPED = Assumed.right(flipped_environment())
SMALL = LogSettings(rounds=40, runs=3)
RNG = np.random.default_rng(0)


def test_a_run_has_its_own_log_and_the_same_one_again() -> None:
    logs, again = (RunLogs(FLIPPED, 2_000, 3) for _ in range(2))
    one, two, found = logs.find_table(0), logs.find_table(1), again.find_table(0)

    assert one is not None
    assert two is not None
    assert found is not None
    assert found.bounds == one.bounds != two.bounds
    assert logs.find_table(0) is one


def test_a_log_of_counts_is_distributed_as_a_drawn_one() -> None:
    """Selected rows of n: as many as are logged, each cell by its share."""
    environment = paper_environment()
    counted = RunLogs(Assumed.right(environment), 200_000, 0).draw(0)
    names = tuple(sorted(environment.graph.observed))
    found = counted.count(names).marginalize(names).align(names)

    rate = environment.model.selection_rate()
    assert found.sum() == pytest.approx(200_000 * rate, rel=0.01)
    assert np.abs(found / found.sum() - environment.model.log().align(names)).max() < 0.004


@pytest.mark.parametrize("refuted", [False, True])
def test_policies_start_from_their_runs_log_or_from_nothing(refuted: bool) -> None:
    logs = RunLogs(FLIPPED, 2_000, 3)
    if refuted:  # as where the log contradicts the assumed graph
        logs.find_table = lambda _: None  # type: ignore[assignment]
    for name, source in make_sources(tuple(OWN), logs).items():
        assert not isinstance(source, Policy)
        starts = source(1).prior.table is not None
        assert starts == (name not in {"LinUCB", "TS"} and not refuted), name
    with pytest.raises(InvalidSimulation, match="did you mean 'LinUCB-PCB'"):
        make_sources(("LinUCB-PBC",), logs)


def test_every_group_and_length_has_its_policies() -> None:
    heard, names = list[tuple[int, int]](), ("TS", "Fused", "GLUE*")
    study = run_log_study(
        groups=("flipped",),
        points=(500, 2_000),
        policies=names,
        settings=SMALL,
        progress=lambda *at: heard.append(at),
    )

    assert heard[-1] == (18, 18)
    assert [(row.points, row.policy) for row in study.rows] == [
        (n, name) for n in (500, 2_000) for name in names
    ]
    assert study.rows[0].less == 0
    assert "flipped, 2,000 points\nTS " in str(study)
    assert json.loads(json.dumps(study.record()))["settings"]["rounds"] == 40
    late = run_log_study(
        groups=("flipped",), points=(500,), policies=names, settings=replace(SMALL, batch=20)
    )
    assert "rewards in batches of 20" in str(late)
    assert [row.mean for row in late.rows] != [row.mean for row in study.rows[:3]]
    wrong = run_log_study(groups=("wrong",), points=(500,), policies=("TS",), settings=SMALL)
    assert len({row.group for row in wrong.rows}) == 7


def test_one_environment_has_students_interval_of_paired_differences() -> None:
    one, two = RNG.exponential(50, 30), RNG.normal(50, 5, 30)
    row = LogRow.of("paper", 1_000, "TS", [two], [one])

    assert (row.mean, row.median, row.q95) == (
        two.mean(),
        np.median(two),
        np.quantile(two, 0.95),
    )
    assert row.less == pytest.approx((one - two).mean())
    half = float(compute_half_width(one - two))
    assert (row.less_upper - row.less_lower) / 2 == pytest.approx(half)
    assert str(LogRow.of("paper", 1_000, "TS", [two[:1]], [one[:1]])).endswith("–")


def test_environments_are_strata() -> None:
    """The variance of a mean over environments is that of each one's mean, added up."""
    firsts, finals = ([RNG.normal(50 + i, 5, 30) for i in range(4)] for _ in range(2))
    row = LogRow.of("random", 1_000, "TS", finals, firsts)
    gaps = [one - two for one, two in zip(firsts, finals, strict=True)]

    assert row.less == pytest.approx(np.mean([gap.mean() for gap in gaps]))
    error = np.sqrt(sum(gap.var(ddof=1) / 30 for gap in gaps)) / 4
    assert row.less_upper - row.less == pytest.approx(stats.t.ppf(0.975, 116) * error)

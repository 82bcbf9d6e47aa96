"""The study of rivals in small: the same as the study of logs, held against Fused too."""

import json
from pathlib import Path

import numpy as np
import pytest

from boundit_research.online.log_study import LogStudySettings, run_log_study
from boundit_research.online.rival_study import (
    OUR_POLICIES,
    POLICIES,
    RivalStudy,
    group_rows,
    judge,
    run_rival_study,
)

SETTINGS = LogStudySettings(rounds=60)


@pytest.fixture(scope="module")
def study() -> RivalStudy:
    return run_rival_study(groups=("flipped",), points=(600,), runs=3, settings=SETTINGS)


def test_all_policies_play_and_are_held_against_linucb_and_fused(study: RivalStudy) -> None:
    rows = {row.plain.policy: row for row in study.rows()}
    finals = study.study.regrets[0].finals

    assert set(rows) == set(POLICIES)
    for name, row in rows.items():
        own = np.array(finals[name])
        assert row.plain.less == pytest.approx((np.array(finals["LinUCB"]) - own).mean())
        assert row.fused.less == pytest.approx((np.array(finals["Fused"]) - own).mean())
        assert row.blind.less == pytest.approx((np.array(finals["Fused-unseen"]) - own).mean())
        assert judge(row.fused) in ("", "less", "more")
    assert judge(rows["Fused"].fused) == judge(rows["Fused-unseen"].blind) == ""
    assert finals["Fused"] != finals["Fused-unseen"]
    text = str(study)
    assert "flipped, 600 points; 3 runs" in text
    assert len(group_rows(study)) == 1
    record = json.loads(json.dumps(study.record(), allow_nan=False))
    assert record["rows"][0]["fused_less"] is not None
    assert record["rows"][0]["unseen_less"] is not None


def test_a_setting_lists_those_who_are_not_ours(study: RivalStudy) -> None:
    (setting,) = group_rows(study)
    others = setting.list_others()
    means = [row.plain.mean for row in others]

    assert {row.plain.policy for row in others} == set(POLICIES) - set(OUR_POLICIES)
    assert means == sorted(means)
    assert setting.find("GLUE*").plain.policy == "GLUE*"


def test_the_unseen_are_told_rewards_alone() -> None:
    """What others see is nothing to a policy that is told rewards alone."""
    few = ("Fused-unseen",)
    seeing = run_log_study(
        groups=("flipped",), points=(600,), runs=2, policies=few, settings=SETTINGS
    )
    blind = run_log_study(
        groups=("flipped",),
        points=(600,),
        runs=2,
        policies=few,
        settings=LogStudySettings(rounds=60, observed=0.0),
    )
    assert seeing.regrets == blind.regrets


def test_random_worlds_are_as_many_as_asked_and_a_file_is_gone_on_with(tmp_path: Path) -> None:
    options = {"groups": ("random",), "points": (600,), "runs": 2, "settings": SETTINGS}
    path = tmp_path / "rivals.json"
    one = run_rival_study(**options, worlds=1, policies=("GLUE",), path=path)  # type: ignore[arg-type]
    two = run_rival_study(**options, worlds=2, policies=("GLUE",), path=path)  # type: ignore[arg-type]

    assert [len(found.study.regrets) for found in (one, two)] == [1, 2]
    assert two.study.regrets[0] == one.study.regrets[0]
    assert two.rows()[0].plain.worlds == 2

"""Verdicts follow the intervals, whatever the runs were."""

from dataclasses import replace

import numpy as np

from boundit.simulation.regret import Regret
from boundit_research.online.claims import judge_online_claims
from boundit_research.online.study import OnlineStudy, WorldRegret

WARM = [f"LinUCB_{of}-{rows}" for of in ("CP", "Biased") for rows in (1, 10, 100, "counts")]


def make_regret(**means: float) -> Regret:
    """Runs whose final regrets differ from a common one by these numbers and a little noise."""
    rng = np.random.default_rng(0)
    common = rng.exponential(20.0, 50) + 50
    finals = [common + mean + rng.normal(0, 0.5, 50) for mean in means.values()]
    curves = np.array(finals)[:, :, None]
    return Regret(tuple(means), np.array([10]), curves, {"somewhere": 50}, 0, "1", {})


def make_study(warm: dict[str, float], *, bounds: float = -10.0) -> OnlineStudy:
    names = {"LinUCB": 0.0, "LinUCB-PCB": bounds, "UCB": 90.0, "UCB-PCB": 60.0, **warm}
    oam = make_regret(**{"LinUCB": 0.0, "OAM": 40.0, "OAM-PCB": 40.0})
    own = make_regret(**{"LinUCB": 0.0, "LinUCB-PCB": -5.0, "Fused": -20.0})
    played = WorldRegret(make_regret(**names), oam, own)
    return OnlineStudy(played, played, 30_000, 0)


NEAR_TIE = make_regret(**{"LinUCB": 0.0, "LinUCB-PCB": 1.0})


def list_outcomes(found: OnlineStudy) -> list[str]:
    return [claim.outcome for claim in judge_online_claims(found, NEAR_TIE)]


def test_what_is_shown_holds() -> None:
    claims = judge_online_claims(make_study(dict.fromkeys(WARM, 5.0)), NEAR_TIE)

    assert [claim.outcome for claim in claims] == [
        "holds",
        "holds",
        "open",
        "holds",
        "holds",
        "does not hold",
    ]
    assert "LinUCB-PCB regrets" in claims[0].found
    assert "less than UCB by 30" in claims[1].found
    assert "0 less (none)" in claims[3].found


def test_where_the_weight_decides_it_holds_under_a_condition() -> None:
    mixed = dict.fromkeys(WARM, 5.0) | {"LinUCB_CP-100": -5.0, "LinUCB_CP-1": 0.0}

    assert list_outcomes(make_study(mixed))[3] == "holds under a condition"
    assert list_outcomes(make_study(mixed))[0] == "holds"
    assert (
        list_outcomes(make_study(mixed | {"LinUCB_CP-10": -10.0}))[0]
        == "holds under a condition"
    )


def test_a_baseline_below_refutes_the_lowest_regret() -> None:
    assert list_outcomes(make_study(dict.fromkeys(WARM, 5.0) | {"LinUCB_CP-10": -15.0}))[0] == (
        "does not hold"
    )
    assert list_outcomes(make_study(dict.fromkeys(WARM, 5.0), bounds=0.0))[0] == "open"
    assert list_outcomes(make_study(dict.fromkeys(WARM, -5.0)))[3] == "does not hold"


def test_bounds_that_change_hardly_a_pull_are_said_to_do_so() -> None:
    """D-43: OAM explores what upper ends rule out as if there were no bounds."""
    found = make_study(dict.fromkeys(WARM, 5.0))
    oam = found.paper.oam
    curves = oam.curves.copy()
    curves[2, :48] = curves[1, :48]
    nearly = replace(found.paper, oam=replace(oam, curves=curves))

    claim = judge_online_claims(replace(found, paper=nearly), NEAR_TIE)[2]

    assert claim.outcome == "holds under a condition"
    assert "the bounds change hardly any pull: in 48 of 50 runs the regret is the same" in (
        claim.found
    )
    assert "OAM gains where a lower end rules an arm out" in claim.found

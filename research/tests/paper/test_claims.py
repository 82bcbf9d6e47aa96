"""Claims of the paper: judged by numbers, never by hand."""

from dataclasses import replace

import pytest
from research.tests.small_reproduction import reproduce_small

from boundit_research.online.claims import OnlineClaim
from boundit_research.paper.claims import (
    JudgedClaim,
    _convert_online_claim,
    judge_paper_claims,
    make_substitute_world,
)


def find_claim(place: str) -> JudgedClaim:
    (found,) = [claim for claim in reproduce_small().claims if claim.place == place]
    return found


@pytest.mark.parametrize(
    ("place", "judgement"),
    [
        ("worked example, D", "does not hold"),
        ("eq. 6, P(u1, u2)", "does not hold"),
        ("Algorithm 1 on the worked example", "does not hold"),
        ("Theorem 4", "holds under a condition"),
        ("offline table, BCE", "does not hold"),
        ("offline table, Truth", "does not hold"),
        ("Theorem 6", "does not hold"),
    ],
)
def test_what_does_not_hang_on_luck_is_judged_as_the_deviations_say(
    place: str, judgement: str
) -> None:
    assert find_claim(place).judgement == judgement


def test_every_claim_names_a_number() -> None:
    for claim in reproduce_small().claims:
        assert any(sign.isdigit() for sign in claim.shown) or "found" in claim.shown


def test_the_substitute_misses_by_far() -> None:
    assert make_substitute_world().mean(arm=1) == pytest.approx(0.9)
    assert "[0.500, 0.500] beside the truth 0.9" in find_claim("Theorem 4").shown


def test_a_table_without_a_miss_would_hold() -> None:
    found = reproduce_small()
    right = [
        replace(row, printed=row.printed._replace(lower=0.0, upper=1.0, truth=row.truth))
        for row in found.offline.rows
    ]
    study = replace(found.offline, rows=tuple(right))

    judged = {
        c.place: c.judgement for c in judge_paper_claims(study, found.online, found.near_tie)
    }

    assert judged["offline table, BCE"] == judged["offline table, Truth"] == "holds"


def test_what_runs_leave_open_is_said_and_claimed_under_a_condition_at_most() -> None:
    said = _convert_online_claim(OnlineClaim("here", "less", "1 less", "open"))

    assert said.judgement == "holds under a condition"
    assert said.shown == "1 less; these runs leave it open"
    assert (
        _convert_online_claim(OnlineClaim("here", "less", "1 less", "holds")).judgement
        == "holds"
    )

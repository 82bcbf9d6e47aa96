import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.scores import Scores

ends = st.sampled_from([0.0, 0.2, 0.5, 1.0])


@st.composite
def contests(draw: st.DrawFn) -> tuple[RankedArms, list[float], list[float]]:
    """Arms by decreasing cap, and their indices before and after the prior."""
    drawn = draw(st.lists(st.tuples(ends, ends, st.sampled_from([0.1, 0.5, 2.0])), min_size=1))
    pairs = [sorted(two) for *two, _ in drawn]
    ranked_arms = RankedArms.of(
        (RankedArm((i,), low, high, i) for i, (low, high) in enumerate(pairs)),
        [RankedArm(("beaten",), 0.0, 0.0, 99)] * draw(st.integers(0, 2)),
    )
    free = [drawn[ranked.place][2] for ranked in ranked_arms]
    final = [max(min(f, e.upper), e.lower) for f, e in zip(free, ranked_arms, strict=True)]
    return ranked_arms, free, final


@given(contests(), st.data())
def test_scores_are_given_in_the_order_of_the_call(
    case: tuple[RankedArms, list[float], list[float]], data: st.DataObject
) -> None:
    ranked_arms, free, final = case
    looked = data.draw(st.integers(1, len(ranked_arms)))
    winner = data.draw(st.integers(0, looked - 1))
    score_table = ranked_arms.blank_table.copy()
    score_table[:, FREE_SCORE], score_table[:looked, SCORE], score_table[looked:, SCORE] = (
        free,
        final[:looked],
        np.nan,
    )

    found = Scores(ranked_arms, (winner, len(ranked_arms) - looked), score_table)
    score_table[:] = -7.0

    scored = {e.arm: (i, f) for e, i, f in zip(ranked_arms[:looked], final, free, strict=False)}
    assert found.arm == ranked_arms[winner].arm
    assert found.index == {arm: scored[arm][0] for arm in scored}
    assert list(found.index) == sorted(scored, key=int_of)
    lowered = [arm for arm in sorted(scored, key=int_of) if scored[arm][0] < scored[arm][1]]
    assert found.capped == tuple(lowered)
    assert found.skipped == len(ranked_arms) - looked + len(ranked_arms.beaten)
    assert (found.features, found.propensity, found.branch) == ((), 1.0, None)


def test_a_chance_is_worked_out_when_it_is_asked_for() -> None:
    ranked_arms, asked = RankedArms([RankedArm(("A",), 0.0, 1.0, 0)]), list[Scores]()

    def compute(scores: Scores) -> Floats:
        asked.append(scores)
        return np.array([0.25])

    found = Scores(ranked_arms, (0, 0), ranked_arms.blank_table, win_chances=compute)

    assert asked == []
    assert found.propensity == 0.25
    assert found.propensities == {("A",): 0.25}
    assert asked == [found]
    unwanted = Scores(ranked_arms, (0, 0), ranked_arms.blank_table, wanted=False)
    assert (unwanted.propensity, unwanted.propensities) == (None, None)


def test_every_arm_of_the_call_has_a_chance_and_a_floor_is_shared_by_all() -> None:
    arms = RankedArms([RankedArm(("A",), 0.0, 1.0, 1), RankedArm(("B",), 0.0, 0.9, 0)])
    found = Scores(arms, (0, 0), arms.blank_table)
    found.allowed = ("B",), ("A",), ("out",)

    assert found.propensities == {("B",): 0.0, ("A",): 1.0, ("out",): 0.0}
    assert list(found.propensities) == [("B",), ("A",), ("out",)]
    again = Scores(arms, (0, 0), arms.blank_table)
    again.allowed, again.explore = found.allowed, 0.3
    assert again.propensities == pytest.approx({("B",): 0.1, ("A",): 0.8, ("out",): 0.1})
    assert again.propensity == pytest.approx(0.8)


def test_an_explored_arm_is_played_instead_with_its_own_features_and_chance() -> None:
    class Ones:
        def row(self, i: int) -> tuple[float, ...]:
            return (1.0, float(i))

    arms = RankedArms([RankedArm(("A",), 0.0, 1.0, 0), RankedArm(("B",), 0.0, 0.9, 1)])
    for arm, row, features in ((("B",), 1, (1.0, 1.0)), (("out",), -1, (7.0,))):
        found = Scores(arms, (0, 0), arms.blank_table, Ones())
        found.allowed, found.explore = (("A",), ("B",), ("out",)), 0.3
        assert found.find_row(arm) == row
        found.explore_arm(arm, row, (7.0,))

        assert (found.arm, found.features, found.branch) == (arm, features, "explore")
        assert found.propensity == pytest.approx(0.1)
        assert found.propensities is not None
        assert found.propensity == found.propensities[arm]
        assert sum(found.propensities.values()) == pytest.approx(1)


def test_features_are_those_of_the_winner() -> None:
    class Squares:
        def row(self, i: int) -> tuple[float, ...]:
            return (float(i), float(i * i))

    ranked_arms = RankedArms([RankedArm((i,), 0.0, 1.0, i) for i in range(4)])

    assert Scores(ranked_arms, (3, 0), ranked_arms.blank_table, Squares()).features == (
        3.0,
        9.0,
    )


def int_of(arm: tuple[object, ...]) -> float:
    return math.inf if arm[0] == "beaten" else int(str(arm[0]))

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.scores import Scores

ends = st.sampled_from([0.0, 0.2, 0.5, 1.0])


@st.composite
def contests(draw: st.DrawFn) -> tuple[RankedArms, list[float], list[float]]:
    """Arms by decreasing cap, and their indices before and after the prior."""
    drawn = draw(st.lists(st.tuples(ends, ends, st.sampled_from([0.1, 0.5, 2.0])), min_size=1))
    pairs = [sorted(two) for *two, _ in drawn]
    lineup = RankedArms.of(
        (RankedArm((i,), low, high, i) for i, (low, high) in enumerate(pairs)),
        [RankedArm(("beaten",), 0.0, 0.0, 99)] * draw(st.integers(0, 2)),
    )
    free = [drawn[entrant.place][2] for entrant in lineup]
    final = [max(min(f, e.upper), e.lower) for f, e in zip(free, lineup, strict=True)]
    return lineup, free, final


@given(contests(), st.data())
def test_what_a_kernel_found_is_told_in_the_order_of_the_call(
    case: tuple[RankedArms, list[float], list[float]], data: st.DataObject
) -> None:
    lineup, free, final = case
    looked = data.draw(st.integers(1, len(lineup)))
    winner = data.draw(st.integers(0, looked - 1))
    sheet = lineup.blank.copy()
    sheet[:, FREE_SCORE], sheet[:looked, SCORE], sheet[looked:, SCORE] = (
        free,
        final[:looked],
        np.nan,
    )

    found = Scores(lineup, (winner, len(lineup) - looked), sheet)
    sheet[:] = -7.0

    scored = {e.arm: (i, f) for e, i, f in zip(lineup[:looked], final, free, strict=False)}
    assert found.arm == lineup[winner].arm
    assert found.index == {arm: scored[arm][0] for arm in scored}
    assert list(found.index) == sorted(scored, key=int_of)
    lowered = [arm for arm in sorted(scored, key=int_of) if scored[arm][0] < scored[arm][1]]
    assert found.capped == tuple(lowered)
    assert found.skipped == len(lineup) - looked + len(lineup.beaten)
    assert (found.features, found.propensity, found.branch) == ((), 1.0, None)


def test_a_chance_is_worked_out_when_it_is_asked_for() -> None:
    lineup, asked = RankedArms([RankedArm(("A",), 0.0, 1.0, 0)]), list[Scores]()

    def chance(outcome: Scores) -> float:
        asked.append(outcome)
        return 0.25

    found = Scores(lineup, (0, 0), lineup.blank, chance=chance)

    assert asked == []
    assert found.propensity == 0.25
    assert asked == [found]
    assert Scores(lineup, (0, 0), lineup.blank, chance=None).propensity is None


def test_features_are_those_of_the_winner() -> None:
    class Squares:
        def row(self, i: int) -> tuple[float, ...]:
            return (float(i), float(i * i))

    lineup = RankedArms([RankedArm((i,), 0.0, 1.0, i) for i in range(4)])

    assert Scores(lineup, (3, 0), lineup.blank, Squares()).features == (3.0, 9.0)


def int_of(arm: tuple[object, ...]) -> float:
    return math.inf if arm[0] == "beaten" else int(str(arm[0]))

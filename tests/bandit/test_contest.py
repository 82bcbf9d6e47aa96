from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.contest import Score, contest
from boundit.bandit.prior import Entrant

ends = st.sampled_from([0.0, 0.2, 0.5, 0.5, 1.0])


@st.composite
def contests(draw: st.DrawFn) -> tuple[list[Entrant], dict[object, Score]]:
    """Arms by decreasing cap, with free indices that often tie."""
    arms = draw(st.lists(st.tuples(ends, ends, st.sampled_from([0.1, 0.5, 0.9, 2.0]))))
    arms = arms or [(0.0, 1.0, 0.3)]
    entrants = [Entrant((i,), min(pair[:2]), max(pair[:2]), i) for i, pair in enumerate(arms)]
    scores: dict[object, Score] = {}
    for entrant, (*_, free) in zip(entrants, arms, strict=True):
        scores[entrant.arm] = Score(max(min(free, entrant.upper), entrant.lower), free)
    return sorted(entrants, key=lambda e: (-e.upper, e.place)), scores


@given(contests())
def test_the_winner_is_the_best_of_all(case: tuple[list[Entrant], dict[object, Score]]) -> None:
    """3.10: stopping early loses nobody, and ties go to the free index, then to the first."""
    entrants, scores = case
    asked: list[object] = []

    def score(entrant: Entrant) -> Score:
        asked.append(entrant.arm)
        return scores[entrant.arm]

    outcome = contest(entrants, score)

    best = max(entrants, key=lambda e: (*scores[e.arm], -e.place))
    assert outcome.arm == best.arm
    assert outcome.skipped == len(entrants) - len(asked)
    assert list(outcome.index) == sorted(asked)  # type: ignore[type-var]
    assert outcome.capped == tuple(
        arm for arm in outcome.index if scores[arm].final < scores[arm].free
    )


def test_most_arms_are_never_scored_when_bounds_are_sharp() -> None:
    """3.10, counted: a thousand arms, and only those within reach of the best are looked at."""
    entrants = [Entrant((i,), 0.0, 1 - i / 1000, i) for i in range(1000)]
    asked = []

    def score(entrant: Entrant) -> Score:
        asked.append(entrant)
        return Score(entrant.upper - 0.05, 1.0)

    assert contest(entrants, score).arm == (0,)
    assert len(asked) == 51

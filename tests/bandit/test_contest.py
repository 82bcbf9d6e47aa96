from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.contest import Outcome, settled
from boundit.bandit.lineup import Entrant, Lineup

ends = st.sampled_from([0.0, 0.2, 0.5, 1.0])


@st.composite
def contests(draw: st.DrawFn) -> tuple[Lineup, list[float], list[float]]:
    """Arms by decreasing cap, and their indices before and after the prior."""
    drawn = draw(st.lists(st.tuples(ends, ends, st.sampled_from([0.1, 0.5, 2.0])), min_size=1))
    pairs = [sorted(two) for *two, _ in drawn]
    lineup = Lineup.of(Entrant((i,), low, high, i) for i, (low, high) in enumerate(pairs))
    free = [drawn[entrant.place][2] for entrant in lineup]
    final = [max(min(f, e.upper), e.lower) for f, e in zip(free, lineup, strict=True)]
    return lineup, free, final


@given(contests(), st.data())
def test_what_a_kernel_found_is_written_down_in_the_order_of_the_call(
    case: tuple[Lineup, list[float], list[float]], data: st.DataObject
) -> None:
    lineup, free, final = case
    looked = data.draw(st.integers(1, len(lineup)))
    winner = data.draw(st.integers(0, looked - 1))

    found = settled(
        lineup,
        winner,
        lineup.first(looked),
        free,
        final,
        skipped=len(lineup) - looked,
        features=(1.0,),
    )

    scored = {e.arm: (i, f) for e, i, f in zip(lineup[:looked], final, free, strict=False)}
    assert found == Outcome(
        lineup[winner].arm,
        {arm: scored[arm][0] for arm in scored},
        tuple(arm for arm in sorted(scored, key=int_of) if scored[arm][0] < scored[arm][1]),
        len(lineup) - looked,
        (1.0,),
    )
    assert list(found.index) == sorted(scored, key=int_of)
    assert vars(found) == vars(Outcome(**vars(found)))


def int_of(arm: tuple[object, ...]) -> int:
    return int(str(arm[0]))

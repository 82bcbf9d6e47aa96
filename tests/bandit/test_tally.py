import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.scene import Scene
from boundit.bandit.tally import Cell, Tally

plays = st.lists(
    st.tuples(st.sampled_from([(), (1,)]), st.sampled_from([("A",), ("B",)]), st.integers(0, 1))
)


@given(plays, plays, plays)
def test_parts_add_up_to_the_whole(
    before: list[tuple[object, ...]],
    one: list[tuple[object, ...]],
    two: list[tuple[object, ...]],
) -> None:
    base, left, right, whole = (
        _tally(p) for p in (before, before + one, before + two, [*before, *one, *two])
    )

    joined = left.joined(right, base)

    assert sorted(joined.record()) == sorted(whole.record())
    for context in ((), (1,)):
        assert joined.plays(context) == whole.plays(context)


@given(plays)
def test_a_record_is_read_back(events: list[tuple[object, ...]]) -> None:
    tally = _tally(events)

    twin = Tally().restored(json.loads(json.dumps(tally.record())), Scene())

    assert twin.record() == tally.record()


@pytest.mark.parametrize(
    "cell", [[[], [], 0, 0.0], [[], [], 1, "x"], ["", [], 1, 0.0], [[], [], 1.5, 0.0], [[], []]]
)
def test_what_is_no_cell_is_refused(cell: list[object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Tally.read([cell])


def test_an_unplayed_pair_is_empty() -> None:
    assert Tally()[(), ("A",)] == Cell(0, 0.0)
    assert Cell(4, 1.0).mean == 0.25


def _tally(events: list[tuple[object, ...]]) -> Tally:
    tally = Tally()
    for context, arm, reward in events:
        tally.add(context, arm, float(reward))  # type: ignore[arg-type]
    return tally

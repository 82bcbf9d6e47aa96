import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.learned.arm_counts import ArmCount, ArmCounts
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Context

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

    joined = left.join(right, base)

    assert sorted(joined.to_record()) == sorted(whole.to_record())
    for context in ((), (1,)):
        assert joined.plays(context) == whole.plays(context)


@given(plays)
def test_a_record_is_read_back(events: list[tuple[object, ...]]) -> None:
    tally = _tally(events)

    twin = ArmCounts().restore(json.loads(json.dumps(tally.to_record())), BanditSpec())

    assert twin.to_record() == tally.to_record()


@pytest.mark.parametrize(
    "cell", [[[], [], 0, 0.0], [[], [], 1, "x"], ["", [], 1, 0.0], [[], [], 1.5, 0.0], [[], []]]
)
def test_what_is_no_cell_is_refused(cell: list[object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        ArmCounts.from_record([cell])


def test_an_unplayed_pair_is_empty() -> None:
    assert ArmCounts()[(), ("A",)] == ArmCount(0, 0.0)
    assert ArmCount(4, 1.0).mean == 0.25


def _tally(events: list[tuple[object, ...]]) -> ArmCounts:
    tally = ArmCounts()
    for context, arm, reward in events:
        tally.add(context, arm, float(reward))  # type: ignore[arg-type]
    return tally


def slots(tally: ArmCounts, context: Context, lineup: RankedArms) -> list[int]:
    return [int(slot) for slot in tally.sheet(context, lineup)[:, STATISTICS]]


def test_slots_tell_where_the_cells_are_as_more_come() -> None:
    """Slot 0 stands for what was never played; arrays grow past their first size."""
    tally = ArmCounts()
    lineup = RankedArms.of([RankedArm((i,), 0, 1, i) for i in range(12)])
    assert slots(tally, (), lineup) == [0] * 12

    for i in range(12):
        tally.add((), (i,), i / 10)
        assert tally.sheet((), lineup) is tally.sheet((), lineup)
        cells = tally.rows[slots(tally, (), lineup)]
        assert cells[:, 1].tolist() == [j / 10 if j <= i else 0.0 for j in range(12)]
        assert cells[:, 0].tolist() == tally.counts((), lineup).tolist()
        assert cells[:, 0].tolist() == [float(j <= i) for j in range(12)]

    other = RankedArms.of([RankedArm((3,), 0, 1, 0)])
    assert tally.rows[slots(tally, (), other), 1].tolist() == [0.3]
    assert slots(tally, (1,), other) == [0]
    assert copy.deepcopy(tally).to_record() == tally.to_record()

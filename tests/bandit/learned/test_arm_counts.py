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
        _count(p) for p in (before, before + one, before + two, [*before, *one, *two])
    )

    joined = left.join(right, base)

    assert sorted(joined.to_record()) == sorted(whole.to_record())
    for context in ((), (1,)):
        assert joined.count_rounds(context) == whole.count_rounds(context)


@given(plays)
def test_a_record_is_read_back(events: list[tuple[object, ...]]) -> None:
    counts = _count(events)

    twin = ArmCounts().restore(json.loads(json.dumps(counts.to_record())), BanditSpec())

    assert twin.to_record() == counts.to_record()


@pytest.mark.parametrize(
    "cell", [[[], [], 0, 0.0], [[], [], 1, "x"], ["", [], 1, 0.0], [[], [], 1.5, 0.0], [[], []]]
)
def test_what_is_no_cell_is_refused(cell: list[object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        ArmCounts.from_record([cell])


def test_an_unplayed_pair_is_empty() -> None:
    assert ArmCounts()[(), ("A",)] == ArmCount(0, 0.0)
    assert ArmCount(4, 1.0).mean == 0.25


def _count(events: list[tuple[object, ...]]) -> ArmCounts:
    counts = ArmCounts()
    for context, arm, reward in events:
        counts.add(context, arm, float(reward))  # type: ignore[arg-type]
    return counts


def slots(counts: ArmCounts, context: Context, ranked_arms: RankedArms) -> list[int]:
    return [int(slot) for slot in counts.make_score_table(context, ranked_arms)[:, STATISTICS]]


def test_slots_tell_where_the_cells_are_as_more_come() -> None:
    """Slot 0 stands for what was never played; arrays grow past their first size."""
    counts = ArmCounts()
    ranked_arms = RankedArms.of([RankedArm((i,), 0, 1, i) for i in range(12)])
    assert slots(counts, (), ranked_arms) == [0] * 12

    for i in range(12):
        counts.add((), (i,), i / 10)
        assert counts.make_score_table((), ranked_arms) is counts.make_score_table(
            (), ranked_arms
        )
        cells = counts.rows[slots(counts, (), ranked_arms)]
        assert cells[:, 1].tolist() == [j / 10 if j <= i else 0.0 for j in range(12)]
        assert cells[:, 0].tolist() == counts.count_plays((), ranked_arms).tolist()
        assert cells[:, 0].tolist() == [float(j <= i) for j in range(12)]

    other = RankedArms.of([RankedArm((3,), 0, 1, 0)])
    assert counts.rows[slots(counts, (), other), 1].tolist() == [0.3]
    assert slots(counts, (1,), other) == [0]
    assert copy.deepcopy(counts).to_record() == counts.to_record()

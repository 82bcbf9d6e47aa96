import copy
import json
import tracemalloc

import pytest

from boundit.bandit.learned_ids import REMEMBERED, IdStore, LearnedIds, _interleave
from boundit.terms.errors import BounditError


class Noted:
    """A store as a caller would write it."""

    def __init__(self) -> None:
        self.ids: dict[str, None] = {}

    def add(self, id: str, /) -> bool:  # noqa: A002, the word users know
        new = id not in self.ids
        self.ids[id] = None
        return new

    def discard(self, id: str, /) -> None:  # noqa: A002, the word users know
        self.ids.pop(id, None)


def learn(ids: LearnedIds, *names: str) -> LearnedIds:
    """Learn what is new of some ids."""
    for name in names:
        if ids.claim(name):
            ids.keep(name)
    return ids


def part(shared: LearnedIds, *names: str) -> LearnedIds:
    """A copy that learned on by itself."""
    return learn(copy.deepcopy(shared), *names)


def test_a_repeat_counts_once_within_the_window_and_again_beyond_it() -> None:
    ids = learn(LearnedIds(3), "a", "b", "a", "c", "d")

    assert (ids.n, list(ids)) == (4, ["b", "c", "d"])
    assert not ids.claim("b")
    assert learn(ids, "a").n == 5


def test_without_a_window_every_repeat_counts() -> None:
    ids = learn(LearnedIds(0), "a", "a")

    assert (ids.n, list(ids)) == (2, [])


def test_memory_is_flat_once_the_window_is_full() -> None:
    ids, peaks = LearnedIds(1000), list[int]()
    tracemalloc.start()
    for turn in range(3):
        for i in range(10_000):
            learn(ids, f"{turn} {i}")
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()

    assert ids.n == 30_000
    assert peaks[2] < peaks[0] * 1.05


@pytest.mark.parametrize("bad", [-1, True, 1.5, "all", None, Noted])
def test_what_is_no_memory_is_refused(bad: object) -> None:
    with pytest.raises(BounditError, match="remember must be how many ids to remember"):
        LearnedIds(bad)  # type: ignore[arg-type]


def test_a_store_says_what_is_new_and_is_told_what_was_refused() -> None:
    store = Noted()
    ids = learn(LearnedIds(store), "a", "b", "a")

    assert isinstance(store, IdStore)
    assert (ids.n, list(ids), list(store.ids)) == (2, [], ["a", "b"])
    assert ids.claim("c")
    ids.release("c", ValueError("refused"))
    assert ids.claim("c")


def test_a_store_that_fails_to_forget_does_not_hide_why_a_reward_was_refused() -> None:
    class Failing(Noted):
        def discard(self, id: str, /) -> None:  # noqa: A002, the word users know
            raise OSError(f"no room for {id}")

    refused = ValueError("refused")
    LearnedIds(Failing()).release_many(["a", "b"], refused)
    assert len(refused.__notes__) == 2
    assert "may still hold 'a': its discard raised OSError" in refused.__notes__[0]


def test_a_store_that_does_not_say_whether_an_id_is_new_is_refused() -> None:
    with pytest.raises(BounditError, match="a store whose add says True for a new id"):
        LearnedIds(set()).claim("a")  # type: ignore[arg-type]


def test_a_fresh_memory_takes_no_store_along() -> None:
    assert LearnedIds(7).fresh().size == 7
    fresh = LearnedIds(Noted()).fresh()
    assert (fresh.store, fresh.size) == (None, REMEMBERED)


def test_a_record_comes_back_as_it_was() -> None:
    ids = learn(LearnedIds(2), "a", "b", "c")
    record = json.loads(json.dumps(ids.to_record()))

    back = LearnedIds.restore(record, None, "UCB")

    assert record == {"remember": 2, "n_learned": 3, "learned_ids": ["b", "c"]}
    assert back.to_record() == record


def test_a_store_is_given_again_and_may_take_over_from_a_window() -> None:
    record = learn(LearnedIds(Noted()), "a").to_record()
    assert record == {"remember": None, "n_learned": 1, "learned_ids": []}
    with pytest.raises(BounditError, match="its ids are in a store of yours: give that again"):
        LearnedIds.restore(record, None, "UCB")

    store = Noted()
    ids = LearnedIds.restore(learn(LearnedIds(2), "a", "b", "c").to_record(), store, "UCB")

    assert (ids.n, list(store.ids)) == (3, ["b", "c"])


@pytest.mark.parametrize(
    "change", [{"n_learned": 1}, {"n_learned": "3"}, {"learned_ids": "ab"}]
)
def test_a_record_that_does_not_fit_is_refused(change: dict[str, object]) -> None:
    record = learn(LearnedIds(2), "a", "b").to_record()

    with pytest.raises(ValueError, match="does not fit the ids"):
        LearnedIds.restore({**record, **change}, None, "UCB")


def test_two_join_as_long_as_the_window_has_all_that_came_since() -> None:
    shared = learn(LearnedIds(4), *"abcdef")
    one, two = part(shared, "g", "h"), part(shared, "x")

    both = one.join(two, shared)

    assert both.n == 9
    assert list(both) == ["f", "g", "h", "x"]
    assert both.join(both, both).n == 9


def test_joining_is_refused_where_the_window_forgot_what_came_since() -> None:
    shared = learn(LearnedIds(4), *"abcdef")
    one = part(shared, *"ghijk")

    with pytest.raises(
        BounditError, match=r"5 rewards came since they parted, and 4 ids are remembered; merge"
    ):
        one.join(part(shared, "x"), shared)
    with pytest.raises(BounditError, match="4 rewards came since they parted"):
        part(shared, *"ghij").join(part(shared, "x"), shared)
    with pytest.raises(BounditError, match="6 rewards came since they parted"):
        shared.join(learn(LearnedIds(4), "x"), LearnedIds(4))


def test_joining_is_refused_where_one_is_no_copy_of_what_was_shared() -> None:
    shared = learn(LearnedIds(4), *"abcdef")

    for other in (learn(LearnedIds(4), *"uvwxyz!"), learn(LearnedIds(4), "a")):
        with pytest.raises(BounditError, match="since= has learned what one of the two has"):
            part(shared, "g").join(other, shared)


def test_joining_is_refused_where_both_learned_one_decision() -> None:
    for shared in (learn(LearnedIds(9), *"ab"), learn(LearnedIds(4), *"abcdef")):
        with pytest.raises(BounditError, match="both have learned decision 'y'; since= tells"):
            part(shared, *"xy").join(part(shared, *"yz"), shared)


def test_two_join_where_one_store_told_both_what_was_new() -> None:
    store = Noted()
    shared = learn(LearnedIds(store), "a", "b")
    one, two = part(shared, "c"), part(shared, "c", "d")

    assert one.store is store
    assert one.join(two, shared).n == 4
    assert one.join(two, LearnedIds()).n == 6
    for other in (learn(LearnedIds(Noted()), "d"), learn(LearnedIds(), "d")):
        with pytest.raises(BounditError, match="their ids are not in one store"):
            one.join(other, LearnedIds())
    with pytest.raises(BounditError, match="since= has learned what one of the two has not"):
        shared.join(one, two.join(one, shared))


def test_lists_take_turns_evenly() -> None:
    assert _interleave(["a", "b"], []) == ["a", "b"]
    assert _interleave(["a", "b"], ["c", "d"]) == ["a", "c", "b", "d"]

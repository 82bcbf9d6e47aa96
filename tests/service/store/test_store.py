from contextlib import suppress

import pytest

from boundit.service.store.base import Head, Store


def test_a_transaction_that_raises_leaves_nothing(store: Store) -> None:
    with suppress(ZeroDivisionError), store.write() as transaction:
        assert transaction.add_policy("a", "TS", "{}", None) is not None
        1 / 0  # noqa: B018, something raises
    with store.read() as transaction:
        assert transaction.list_heads() == []


def test_a_name_is_taken_once(store: Store) -> None:
    with store.write() as transaction:
        first = transaction.add_policy("a", "TS", "{}", None)
        assert transaction.add_policy("a", "TS", "{}", None) is None
        head = transaction.lock_heads(["a", "b"])["a"]
    now = transaction.now
    assert head == Head._make([first, "a", "TS", now, 0, 0, now, 1, *[0] * 6, None, None])


def test_what_is_read_is_of_one_moment(store: Store) -> None:
    with store.write() as transaction:
        transaction.add_policy("a", "TS", "{}", None)
    with store.read() as reading:
        assert len(reading.list_heads()) == 1
        with store.write() as transaction:
            transaction.add_policy("b", "TS", "{}", None)
        assert len(reading.list_heads()) in (1, 2)
    with store.read() as reading:
        assert [head.name for head in reading.list_heads()] == ["a", "b"]


@pytest.mark.parametrize("n", [1, 63, 64, 150])
def test_any_number_of_rows_is_added_and_changed(store: Store, n: int) -> None:
    with store.write() as transaction:
        policy = transaction.add_policy("a", "TS", "{}", None) or 0
        events = [(policy, i, i, "decided", f'{{"i": {i}}}') for i in range(1, n + 1)]
        head = transaction.require_head("a")
        added = [(policy, f"v{i}", i, None, None, None) for i in range(1, n + 1)]
        changed = [(i + n, f"[{i}]", policy, f"v{i}") for i in range(1, n + 1)]
        transaction.save(head, events, added, (), "", {})
        transaction.save(head, (), (), changed, "", {})
    with store.read() as transaction:
        rows = transaction.list_events(policy, 0, 10**6)
        found = transaction.find_decisions(policy, [f"v{i}" for i in range(1, n + 1)])

    assert [tuple(row) for row in rows] == [event[1:] for event in events]
    assert {one.position: (one.closed, one.outcome) for one in found.values()} == {
        i: (i + n, f"[{i}]") for i in range(1, n + 1)
    }


def test_counts_of_several_arms_are_added_up(store: Store) -> None:
    counts: dict[tuple[str, str], float] = {("A", "reward_sum"): 0.5, ("B", "decisions"): 2}
    with store.write() as transaction:
        policy = transaction.add_policy("a", "TS", "{}", None) or 0
        head = transaction.require_head("a")
        for _ in range(2):
            transaction.save(head, (), (), (), "2024-01-01", counts)
        found = transaction.list_daily_counts(policy)

    assert [tuple(row) for row in found] == [
        ("2024-01-01", "A", 0, 0, 1.0, 0, 0, 0),
        ("2024-01-01", "B", 4, 0, 0.0, 0, 0, 0),
    ]

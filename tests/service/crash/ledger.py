"""Whether the tables of a store agree with its events: no gap, nothing closed twice."""

from collections import Counter
from collections.abc import Iterator

from boundit.service.events import (
    CLOSED,
    DECIDED,
    REWARDED,
    read_closed,
    read_decided,
    read_rewarded,
)
from boundit.service.store.base import EventRow, Head, Transaction

_AT_ONCE = 5000


def find_faults(transaction: Transaction, head: Head) -> Iterator[str]:
    """Count the events again, and yield where head row, counts or decisions say otherwise."""
    decided, closed = Counter[str](), Counter[str]()
    told = dict[str, list[float]]()
    expected, learned_decisions, reward_sum = 1, 0, 0.0
    for row in _list_all(transaction, head):
        if row.position != expected:
            yield f"position {expected} is missing"
        expected = row.position + 1
        if row.kind == DECIDED:
            decided[read_decided(row.body).id] += 1
        elif row.kind == REWARDED:
            rewarded = read_rewarded(row.body)
            if rewarded.reward is not None and not rewarded.late:
                told.setdefault(rewarded.id, []).append(rewarded.reward)
        elif row.kind == CLOSED:
            event = read_closed(row.body)
            closed[event.id] += 1
            learned_decisions += event.reason is None
            reward_sum += event.reward or 0.0
            if not event.default and told.get(event.id) != [event.reward]:
                yield f"{event.id} was learned with {event.reward}, told {told.get(event.id)}"
    yield from (f"{name} was decided {n} times" for name, n in decided.items() if n > 1)
    yield from (f"{name} was closed {n} times" for name, n in closed.items() if n > 1)
    tallies = transaction.list_daily_counts(head.id)
    found = {
        "head": (expected - 1, head.head),
        "open": (len(decided) - len(closed), head.open_decisions),
        "learned": (learned_decisions, head.learned_decisions),
        "tallies of decisions": (len(decided), sum(row[2] for row in tallies)),
        "tallies of learning": (learned_decisions, sum(row[3] for row in tallies)),
        "tallies of rewards": (reward_sum, sum(row[4] for row in tallies)),
    }
    yield from (
        f"{what}: {events} by the events, {kept} were kept"
        for what, (events, kept) in found.items()
        if events != kept
    )


def _list_all(transaction: Transaction, head: Head) -> Iterator[EventRow]:
    position = 0
    while rows := transaction.list_events(head.id, position, _AT_ONCE):
        yield from rows
        position = rows[-1].position

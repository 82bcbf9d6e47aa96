import asyncio
from concurrent.futures import Future
from typing import Any

import pytest

from boundit.service.commands import CloseWindows
from boundit.service.errors import NoSuchPolicy, Unavailable
from boundit.service.waiting import GROUP, CommandQueue, Waiting, deliver, resolve


def _make(rows: int = 1) -> Waiting:
    return Waiting(CloseWindows("ads"), rows, Future())


def test_a_group_takes_what_waits_up_to_its_size() -> None:
    queue = CommandQueue(10 * GROUP)
    queue.open()
    waiting = [_make(GROUP // 2) for _ in range(3)]
    for one in waiting:
        queue.put(one)

    assert queue.take(0) == waiting[:2]
    queue.put_back(waiting[:1])
    assert queue.n_rows == GROUP
    assert queue.take(0) == [waiting[0], waiting[2]]
    assert queue.take(0) == []


def test_a_full_queue_refuses_and_a_closed_one_too() -> None:
    queue = CommandQueue(10)
    with pytest.raises(Unavailable):
        queue.put(_make())
    queue.open()
    queue.put(_make(100))  # more than the queue has, but alone
    with pytest.raises(Unavailable):
        queue.put(_make())
    queue.close()
    with pytest.raises(Unavailable):
        queue.put(_make())
    assert len(queue.take(0) or []) == 1
    assert queue.take(0) is None


def test_threads_get_answers_or_errors_and_those_who_left_get_none() -> None:
    good, bad, gone = _make(), _make(), _make()
    gone.future.cancel()

    deliver([(good, 3), (bad, NoSuchPolicy("x")), (gone, 4)])

    assert good.future.result() == 3
    with pytest.raises(NoSuchPolicy):
        bad.future.result()
    assert gone.future.cancelled()


def test_an_event_loop_gets_all_its_answers_in_one_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def wait() -> list[Any]:
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in range(3)]
        futures[1].cancel()
        calls, own = list[object](), loop.call_soon_threadsafe

        def count(*given: Any) -> asyncio.Handle:
            calls.append(given)
            return own(*given)

        monkeypatch.setattr(loop, "call_soon_threadsafe", count)
        deliver(
            [(Waiting(CloseWindows("a"), 1, one, loop), i) for i, one in enumerate(futures)]
        )
        assert len(calls) == 1
        return [await futures[0], await futures[2]]

    assert asyncio.run(wait()) == [0, 2]


def test_a_loop_that_was_closed_has_nobody_who_waits() -> None:
    loop = asyncio.new_event_loop()
    future = loop.create_future()
    loop.close()

    deliver([(Waiting(CloseWindows("a"), 1, future, loop), 1)])
    resolve([(own := Future[int](), 1)])
    assert own.result() == 1

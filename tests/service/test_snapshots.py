import logging
from collections.abc import Callable

import pytest

from boundit.service.state import KEPT, compute_digest, load_fold
from boundit.service.store.base import Store
from tests.service.kit import KINDS, decide, make_config, reward, run_engine


def _play(open_store: Callable[[], Store], name: str, kind: str = "TS") -> str:
    with run_engine(open_store(), make_config(kind=kind)) as engine:
        for i in range(12):
            decide(engine, f"{name} {i}", i % 3)
            reward(engine, f"{name} {i}", i % 2)
        return engine._writer.folds["ads"].write_state()


@pytest.mark.parametrize("kind", KINDS)
def test_a_start_from_a_snapshot_goes_on_bit_for_bit(
    open_store: Callable[[], Store], kind: str
) -> None:
    _play(open_store, "a", kind)
    with run_engine(open_store()) as engine:
        snapshots = [_list(engine.store), decide(engine, "b", 1)]
        reward(engine, "b", 1.0)
        kept = engine._writer.folds["ads"].write_state()
        with engine.store.write() as transaction:
            transaction._run("DELETE FROM snapshots")
        with engine.store.read() as transaction:
            head = transaction.get_head("ads")
            assert head is not None
            assert load_fold(transaction, head).write_state() == kept
    assert len(snapshots) == 2


def test_the_last_two_snapshots_are_kept(open_store: Callable[[], Store]) -> None:
    for name in "abcd":
        _play(open_store, name)

    assert len(_list(open_store())) == KEPT


def test_a_damaged_snapshot_is_said_and_the_one_before_is_used(
    open_store: Callable[[], Store], caplog: pytest.LogCaptureFixture
) -> None:
    _play(open_store, "a")
    state = _play(open_store, "b")
    with open_store().write() as transaction:
        transaction._run(
            "UPDATE snapshots SET state = replace(state, '1', '2') "
            "WHERE position = (SELECT max(position) FROM snapshots)"
        )

    with caplog.at_level(logging.ERROR), run_engine(open_store()) as engine:
        decide(engine, "b 0")
        assert engine._writer.folds["ads"].write_state() == state
    assert "is damaged" in caplog.text


def test_a_changed_digit_changes_the_checksum() -> None:
    assert compute_digest("[1]") != compute_digest("[2]")


def _list(store: Store) -> list[int]:
    with store.read() as transaction:
        head = transaction.get_head("ads")
        assert head is not None
        return [row.position for row in transaction.list_snapshots(head.id)]

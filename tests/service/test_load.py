from collections.abc import Callable

import pytest

from boundit.service.errors import StoreUnavailable
from boundit.service.state import load_fold
from boundit.service.store.base import Store
from tests.service.kit import decide, make_config, reward, run_engine


def test_a_policy_is_read_as_it_was(open_store: Callable[[], Store]) -> None:
    with run_engine(open_store(), make_config()) as engine:
        for i in range(20):
            decide(engine, f"{i}", i % 3)
            reward(engine, f"{i}", i % 2)
        with engine.store.read() as transaction:
            head = transaction.get_head("ads")
            assert head is not None
            fold = load_fold(transaction, head)
            kept = engine._writer.folds["ads"]

        assert fold.write_state() == kept.write_state()
        assert (fold.position, fold.state_position) == (kept.position, kept.state_position)


def test_events_without_a_beginning_are_said(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        with store.read() as transaction:
            head = transaction.get_head("ads")
            assert head is not None
            with pytest.raises(StoreUnavailable, match="no beginning"):
                load_fold(transaction, head._replace(id=99))
        assert engine.list_events("ads")[0].kind == "created"

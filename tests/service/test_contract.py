"""Random commands to two engines on one store, beside the contract in plain Python."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from boundit.service.commands import CloseWindows, RefreshBounds, RefreshRequest
from boundit.service.engine import Engine
from boundit.service.errors import ServiceError
from boundit.service.events import to_datetime
from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore
from boundit.service.store.sqlite import SqliteStore
from tests.postgres import PostgresServer
from tests.service.kit import (
    SetClock,
    decide,
    make_config,
    make_table,
    reward,
    run_engine,
    save,
)
from tests.service.plain_service import PlainService, Refused

TABLES = [make_table(top=top) for top in (0.9, 0.85, 0.95)]
SAVED = [save(table) for table in TABLES]
NAMES = st.sampled_from([f"visitor {i}" for i in range(12)])
ENGINES = st.integers(0, 1)
CONFIGS: list[dict[str, Any]] = [
    {},
    {"shadow": True},
    {"window": 30.0},
    {"window": 30.0, "default_reward": 0.25},
    {"window": 30.0, "reward_aggregation": "last", "default_reward": 0.0},
    {"window": 30.0, "reward_aggregation": "sum"},
    {"window": 30.0, "shadow": True, "explore": 0.2},
]


class ServiceMachine(RuleBasedStateMachine):
    """Two engines, which must both answer as the plain service does."""

    open_store: Callable[[SetClock, ExitStack], Callable[[], Store]]

    @initialize(config=st.sampled_from(CONFIGS), kind=st.sampled_from(["TS", "UCB", "LinUCB"]))
    def begin(self, config: dict[str, Any], kind: str) -> None:
        self.stack, self.clock = ExitStack(), SetClock()
        self.open = type(self).open_store(self.clock, self.stack)
        made = make_config(kind=kind, **config)
        self.plain = PlainService(made)
        self.engines = [self._start(made), self._start()]
        self.plain.now = self.plain.last = self.clock.now

    def _start(self, *configs: Any) -> Engine:
        return self.stack.enter_context(run_engine(self.open(), *configs))

    def _same(self, expect: Callable[[], Any], call: Callable[[], Any]) -> tuple[Any, Any]:
        """Both answer, or both refuse with one status."""
        wanted, status = None, None
        try:
            wanted = expect()
        except Refused as refused:
            status = refused.status
        if status is None:
            return wanted, call()
        with pytest.raises(ServiceError) as caught:
            call()
        assert caught.value.status == status
        return None, None

    @rule(engine=ENGINES, name=NAMES, age=st.integers(0, 3), played=st.sampled_from("ABC"))
    def decide_played(self, engine: int, name: str, age: int, played: str) -> None:
        self._decide(engine, name, age, played)

    @rule(engine=ENGINES, name=NAMES, age=st.integers(0, 3))
    def decide_alone(self, engine: int, name: str, age: int) -> None:
        self._decide(engine, name, age, None)

    def _decide(self, engine: int, name: str, age: int, played: str | None) -> None:
        wanted, found = self._same(
            lambda: self.plain.decide(name, age, played),
            lambda: decide(self.engines[engine], name, age, played=played),
        )
        if found:
            assert (found.duplicate, found.arm) == (wanted[0], {"Ad": wanted[1]})
            assert found.position == self.plain.decisions[name].position

    @rule(
        engine=ENGINES,
        name=NAMES,
        value=st.sampled_from([None, 0.0, 0.25, 1.0, 2.0]),
        reward_id=st.sampled_from(["", "a", "b"]),
        seen=st.sampled_from([{}, {}, {"W": 1}, {"W": 2}, {"V": 0}]),
    )
    def tell(
        self, engine: int, name: str, value: float | None, reward_id: str, seen: dict[str, int]
    ) -> None:
        wanted, found = self._same(
            lambda: self.plain.reward(name, value, reward_id, seen),
            lambda: reward(
                self.engines[engine], name, value, reward_id=reward_id, observed=seen
            ),
        )
        if found:
            assert found.status == wanted

    @rule(seconds=st.sampled_from([-20.0, 3.0, 16.0, 31.0]))
    def move_clock(self, seconds: float) -> None:
        self.clock.move(seconds)
        self.plain.now = self.clock.now

    @rule(engine=ENGINES)
    def close_windows(self, engine: int) -> None:
        assert self.engines[engine].run(CloseWindows("ads")) == self.plain.close_due()

    @rule(engine=ENGINES, which=st.integers(0, 2))
    def refresh(self, engine: int, which: int) -> None:
        self.plain.refresh(TABLES[which])
        self.engines[engine].run(RefreshBounds("ads", RefreshRequest(SAVED[which])))

    @rule(engine=ENGINES)
    def restart(self, engine: int) -> None:
        self.engines[engine].stop()
        self.engines[engine] = self._start()

    @rule(engine=ENGINES)
    def prune(self, engine: int) -> None:
        moment = self.clock.now
        if self.plain.last >= moment:  # what happened at this very moment stays
            return
        found = self.engines[engine].prune("ads", to_datetime(moment))
        assert found.decisions == self.plain.prune()
        self.plain.position = self.engines[engine].list_events("ads")[-1].position
        self.plain.last = max(self.plain.last, moment)

    def teardown(self) -> None:
        if not hasattr(self, "stack"):
            return
        try:
            for engine in self.engines:
                self.plain.close_due()
                engine.run(CloseWindows("ads"))
                found = engine.replay("ads", decisions=True)
                assert found.differences == []
                own = engine._writer.folds["ads"].policy.state()
                assert own == self.plain.policy.state()
        finally:
            self.stack.close()


def _run(machine: type[ServiceMachine], examples: int, steps: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=checks,
        ),
    )


def test_two_engines_on_one_file_keep_the_contract() -> None:
    class OnSqlite(ServiceMachine):
        @staticmethod
        def open_store(clock: SetClock, stack: ExitStack) -> Callable[[], Store]:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            return lambda: SqliteStore(folder, clock=clock)

    _run(OnSqlite, 25, 40)


def test_two_replicas_on_postgresql_keep_the_contract(postgres_server: PostgresServer) -> None:
    class OnPostgres(ServiceMachine):
        @staticmethod
        def open_store(clock: SetClock, stack: ExitStack) -> Callable[[], Store]:
            url = stack.enter_context(postgres_server.make_database())
            return lambda: PostgresStore(url, clock=clock)

    _run(OnPostgres, 8, 40)

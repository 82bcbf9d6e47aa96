import pytest

from boundit.service.commands import CloseWindows
from boundit.service.config import make_policy
from boundit.service.errors import NoSuchPolicy, Unprocessable
from boundit.service.store.base import Store
from tests.service.kit import decide, make_config, reward, run_engine


@pytest.mark.parametrize("kind", ["TS", "UCB", "Fused"])
def test_the_table_has_the_chances_of_every_context(store: Store, kind: str) -> None:
    with run_engine(store, make_config(kind=kind, explore=0.05)) as engine:
        for i in range(6):
            decide(engine, f"{i}", i % 3)
            reward(engine, f"{i}", i % 2)
        table = engine.make_table("ads")
        again = [decide(engine, f"x{i}", i) for i in range(3)]

    assert table.state_position == again[0].state_position
    for row, one in zip(table.rows, again, strict=True):
        assert row.context == one.context
        assert row.propensities == one.propensities


def test_contexts_that_nobody_listed_make_no_table(store: Store) -> None:
    config = make_config(kind="UCB", bounds=None, arms=["A", "B"], context=["Age"])
    with run_engine(store, config) as engine, pytest.raises(Unprocessable, match="levels"):
        engine.make_table("ads")


def test_a_policy_without_contexts_has_a_table_of_one_row(store: Store) -> None:
    config = make_config(kind="TS", bounds=None, arms=["A", "B"])
    with run_engine(store, config) as engine:
        table = engine.make_table("ads")

    policy = make_policy(config)
    chances = policy.decide(id="x").propensities or {}
    assert [one.propensity for one in table.rows[0].propensities] == list(chances.values())


def test_events_are_listed_past_a_position(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        for i in range(5):
            decide(engine, f"{i}")
        found = engine.list_events("ads", after=2, limit=2)
        engine.run(CloseWindows("ads"))
        assert engine.get_bounds("ads") is not None
        for look in (engine.list_events, engine.get_bounds, engine.show_policy):
            with pytest.raises(NoSuchPolicy):
                look("none")

    assert [(one.position, one.kind) for one in found] == [(3, "decided"), (4, "decided")]

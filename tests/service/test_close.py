import pytest

from boundit.service.commands import CloseWindows
from boundit.service.reward import NO_REWARD, NOT_PLAYED
from boundit.service.store.base import Store
from tests.service.kit import SetClock, decide, make_config, reward, run_engine


@pytest.mark.parametrize(("rule", "learned"), [("first", 0.2), ("last", 0.3), ("sum", 0.5)])
def test_several_rewards_count_by_the_policys_rule(
    store: Store, clock: SetClock, rule: str, learned: float
) -> None:
    with run_engine(store, make_config(window=60.0, reward_aggregation=rule)) as engine:
        decide(engine, "a")
        reward(engine, "a", 0.2, reward_id="one")
        reward(engine, "a", 0.3, reward_id="two")
        assert engine.get_decision("ads", "a").status == "open"
        clock.move(60)
        engine.run(CloseWindows("ads"))
        found = engine.get_decision("ads", "a")

    assert found.status == "learned"
    assert found.learned_reward == pytest.approx(learned)


def test_a_window_without_a_reward_is_learned_only_by_a_default(
    store: Store, clock: SetClock
) -> None:
    configs = [
        make_config("with", window=60.0, default_reward=0.0),
        make_config("without", window=60.0),
    ]
    with run_engine(store, *configs) as engine:
        for config in configs:
            decide(engine, "a", policy=config.name)
        clock.move(61)
        for config in configs:
            engine.run(CloseWindows(config.name))
        found = [engine.get_decision(config.name, "a") for config in configs]
        learned = [engine.show_policy(config.name).learned_decisions for config in configs]

    assert [one.status for one in found] == ["learned", "expired"]
    assert [one.reason for one in found] == [None, NO_REWARD]
    assert learned == [1, 0]


def test_in_shadow_mode_only_what_was_played_is_learned(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config(window=60.0, shadow=True)) as engine:
        for name in ("a", "b"):
            decide(engine, name)
            reward(engine, name, 1.0)
        reward(engine, "a", played="C", propensity=0.5)
        clock.move(60)
        assert engine.run(CloseWindows("ads")) == 2
        found = [engine.get_decision("ads", name) for name in ("a", "b")]

    assert [one.status for one in found] == ["learned", "expired"]
    assert found[1].reason == NOT_PLAYED
    assert (found[0].decision.played, found[0].decision.propensity) == ({"Ad": "C"}, 0.5)


def test_nothing_is_learned_before_its_window_closes(store: Store, clock: SetClock) -> None:
    """Successes that come sooner than their absence must not bias what is learned."""
    with run_engine(store, make_config(window=60.0)) as engine:
        decide(engine, "a")
        reward(engine, "a", 1.0)
        assert engine.run(CloseWindows("ads")) == 0
        assert engine.show_policy("ads").state_position == 1
        clock.move(59.999999)
        assert engine.run(CloseWindows("ads")) == 0
        clock.move(0.000001)
        assert engine.run(CloseWindows("ads")) == 1

from boundit.service.store.base import Store
from tests.service.kit import decide, make_config, reward, run_engine


def test_a_policy_is_shown_as_it_is(store: Store) -> None:
    with run_engine(store, make_config(explore=0.1)) as engine:
        decide(engine, "a")
        decide(engine, "b")
        reward(engine, "a", 1.0)
        shown = engine.show_policy("ads")

        assert engine.list_policies() == [shown]
    assert (
        shown.open_decisions,
        shown.learned_decisions,
        shown.position,
        shown.state_position,
    ) == (1, 1, 5, 5)
    assert (shown.arms[0], shown.context, shown.outcome) == ({"Ad": "A"}, ["Age"], "Click")
    assert (shown.learn, shown.explore, shown.seed, shown.refuted) == (
        "immediately",
        0.1,
        7,
        None,
    )
    assert len(shown.warnings) == 1

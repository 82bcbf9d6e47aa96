from collections.abc import Callable

import pytest

from boundit.service.commands import RefreshBounds, RefreshRequest
from boundit.service.errors import Unprocessable
from boundit.service.store.base import Store
from tests.service.kit import decide, make_config, make_table, reward, run_engine, save


def test_a_seed_that_nobody_gave_is_drawn_and_kept(open_store: Callable[[], Store]) -> None:
    with run_engine(open_store(), make_config(seed=None)) as engine:
        seed = engine.show_policy("ads").seed
    with run_engine(open_store()) as engine:
        assert engine.show_policy("ads").seed == seed


def test_new_bounds_hold_from_their_position_on(open_store: Callable[[], Store]) -> None:
    table = make_table(top=0.95, arms=("A", "B", "C", "D"))
    with run_engine(open_store(), make_config()) as engine:
        old = decide(engine, "a")
        found = engine.run(RefreshBounds("ads", RefreshRequest(save(table))))
        new = decide(engine, "b")
        again = decide(engine, "a")
        reward(engine, "a", 1.0)
        bounds = engine.get_bounds("ads")

    assert (found.bounds_version, found.position) == (2, 3)
    assert (old.bounds_version, new.bounds_version) == (1, 2)
    assert (len(old.propensities), len(new.propensities)) == (3, 4)
    assert again.propensities == old.propensities
    assert bounds is not None
    with run_engine(open_store()) as engine:
        assert decide(engine, "a").propensities == old.propensities
        assert decide(engine, "b").propensities == new.propensities


def test_bounds_that_do_not_fit_change_nothing(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        other = save(make_table(arms=("X", "Y")))
        with pytest.raises(Unprocessable, match="other arms"):
            engine.run(RefreshBounds("ads", RefreshRequest(other)))
        assert engine.show_policy("ads").position == 1


def test_bounds_of_another_outcome_change_nothing(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        other = save(make_table(outcome="Sale"))
        with pytest.raises(Unprocessable, match="reward is Click, that of the bounds Sale"):
            engine.run(RefreshBounds("ads", RefreshRequest(other)))
        assert engine.show_policy("ads").position == 1

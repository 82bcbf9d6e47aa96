from typing import Any

import pytest

from boundit.service.config import make_policy
from boundit.service.decide import Visit, choose_arms
from boundit.service.events import Closed
from boundit.service.state import Fold
from tests.service.kit import ARMS, KINDS, make_config


def _make_fold(kind: str, **options: Any) -> Fold:
    config = make_config(kind=kind, **options)
    return Fold(1, config, 7, make_policy(config), 1)


def _make_closings(n: int, *, bad: int | None = None) -> list[tuple[int, Closed]]:
    return [
        (
            2 + i,
            Closed(f"{i}", i, 0, [ARMS[i % 3]], [i % 3], 9.0 if i == bad else (i % 7) / 7),
        )
        for i in range(n)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_state_does_not_hang_on_how_events_are_grouped(kind: str) -> None:
    closings = _make_closings(60, bad=33)
    folds = [_make_fold(kind) for _ in range(3)]

    for size, fold in zip((1, 13, 60), folds, strict=True):
        for start in range(0, 60, size):
            fold.learn(closings[start : start + size])

    assert len({fold.write_state() for fold in folds}) == 1
    assert {fold.n_unlearned for fold in folds} == {1}
    assert {fold.state_position for fold in folds} == {61}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("explore", [0.0, 0.1])
def test_visitors_of_a_group_get_what_each_gets_alone(kind: str, explore: float) -> None:
    fold = _make_fold(kind, explore=explore)
    fold.learn(_make_closings(30))
    visits = [Visit(f"visitor {i}", (i % 3,), None, None, None) for i in range(12)]

    for visit, together in zip(visits, choose_arms(fold, visits), strict=True):
        (alone,) = choose_arms(fold, [visit])
        decision = fold.policy.decide(visit.context, id=visit.id)
        assert together == alone
        assert together.arm == decision.arm_values
        assert together.propensities.by_arm[together.arm] == decision.propensity
        assert sum(together.propensities.by_arm.values()) == pytest.approx(1)


def test_chances_are_others_once_something_was_learned() -> None:
    fold, visit = _make_fold("TS"), Visit("a", (0,), None, None, None)
    (before,) = choose_arms(fold, [visit])

    fold.learn([(2, Closed("x", 1, 0, ["A"], [0], 1.0))])

    (after,) = choose_arms(fold, [visit])
    assert before.propensities.by_arm != after.propensities.by_arm


def test_a_copy_is_not_touched_by_what_is_learned_later() -> None:
    fold = _make_fold("TS")
    copy = fold.copy()

    fold.learn(_make_closings(5))

    assert copy.write_state() != fold.write_state()
    assert copy.state_position == 1

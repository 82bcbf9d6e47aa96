from typing import Any

import pytest
from msgspec import structs

from boundit.service.config import make_policy, read_bounds
from boundit.service.errors import Unprocessable
from tests.service.kit import KINDS, make_config, make_table, save


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_policy_is_made_and_remembers_no_ids(kind: str) -> None:
    policy = make_policy(make_config(kind=kind))

    policy.learn(policy.decide((0,), id="a"), 1.0)

    assert type(policy).__name__ == kind
    assert policy.state()["learned_ids"] == []


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"name": ""}, "$.name", "1 to 100"),
        ({"name": "a/b"}, "$.name", "1 to 100"),
        ({"name": ".."}, "$.name", "dots"),
        ({"seed": 2**64}, "$.seed", "64 bits"),
        ({"window": 0.0}, "$.window", "above 0"),
        ({"window": float("inf")}, "$.window", "ten years"),
        ({"learn": "window"}, "$.window", "given in seconds"),
        ({"learn": "immediately", "window": 5.0}, "$.learn", "'window'"),
        ({"reward_aggregation": "sum"}, "$.reward_aggregation", "'first'"),
        ({"default_reward": 0.0}, "$.default_reward", "without a window"),
        ({"retention": -1.0}, "$.retention", "days"),
        ({"options": {"alpha": 1}}, "$.options", "no option 'alpha'"),
        ({"options": {"features": 1}}, "$.options", "features cannot be given in options"),
        ({"options": {"watch": True}}, "$.options", "write monitor"),
        ({"kind": "LinTS", "options": {"shared": True}}, "$.options", "no option 'shared'"),
        ({"window": 5.0, "default_reward": 2.0}, "$", "from 0 to 1"),
        ({"explore": 2.0}, "$", "explore"),
        ({"bounds": {}}, "$.bounds", "not a table of bounds"),
        ({"bounds": None}, "$.arms", "arms"),
        ({"arms": [{"Drug": "A"}]}, "$.arms", "Ad"),
        ({"arms": ["Z"]}, "$", "arms"),
    ],
)
def test_what_makes_no_policy_is_refused_where_it_stands(
    changes: dict[str, Any], field: str, said: str
) -> None:
    with pytest.raises(Unprocessable, match=said) as caught:
        make_policy(make_config(**changes))
    assert caught.value.field == field


def test_a_window_is_learned_by_unless_told_otherwise() -> None:
    assert make_config().learns_immediately
    assert not make_config(window=60.0).learns_immediately
    assert "biased" in make_config().warnings[0]
    assert "default_reward" in make_config(window=60.0).warnings[0]
    assert make_config(window=60.0, default_reward=0.0).warnings == []


def test_arms_come_as_scalars_lists_or_objects() -> None:
    made = [make_policy(make_config(arms=[a])) for a in ("A", ["A"], {"Ad": "A"})]

    assert {policy.spec.arms for policy in made} == {(("A",),)}


def test_bounds_with_a_changed_number_are_refused() -> None:
    record = save(make_table())
    record["outcome"] = "Other"

    with pytest.raises(Unprocessable, match="changed after it was saved"):
        read_bounds(record)


@pytest.mark.parametrize("kind", ["LinUCB", "LinTS", "OAM"])
def test_a_linear_policy_without_a_declared_context_is_refused(kind: str) -> None:
    """Visitors with contexts of two lengths would be acknowledged, and one not learned."""
    plain = make_config(kind=kind, bounds=None, arms=["A", "B"], reward_range=(0, 1))

    with pytest.raises(Unprocessable, match=r"^.*write its names in context.*$") as caught:
        make_policy(plain)

    assert caught.value.field == "$.context"
    for names in (["t"], list[str]()):
        policy = make_policy(structs.replace(plain, context=names))
        assert policy.spec.context == tuple(names)

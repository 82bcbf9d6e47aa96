import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.decision import Decision
from boundit.bandit.errors import NotADecision

values = st.one_of(
    st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False, width=32)
)
keys = st.tuples(values, values)
numbers = st.floats(allow_nan=False)


@given(
    st.builds(
        Decision,
        id=st.text(),
        arm=keys,
        context=keys,
        features=st.lists(st.floats(allow_nan=False, allow_infinity=False)).map(tuple),
        index=st.dictionaries(keys, numbers, max_size=3),
        capped=st.lists(keys, max_size=2).map(tuple),
        skipped=st.integers(0, 9),
        propensity=st.one_of(st.none(), st.floats(0, 1)),
        branch=st.one_of(st.none(), st.text()),
    )
)
def test_json_keeps_a_decision(decision: Decision) -> None:
    finite = all(isinstance(v, str | int) or abs(v) < 1e300 for v in decision.arm)  # type: ignore[arg-type]
    if finite:
        assert Decision.from_json(decision.to_json()) == decision
        assert Decision.from_json(decision.record()) == decision


@pytest.mark.parametrize(
    "change",
    [
        {"id": 7},
        {"features": ["x"]},
        {"features": [float("nan")]},
        {"index": 3},
        {"arm": None},
        {"branch": 1},
    ],
)
def test_a_damaged_decision_is_refused(change: dict[str, object]) -> None:
    whole = Decision("7", ("A",), (), (1.0,), {("A",): 0.5})

    with pytest.raises(NotADecision, match="this is no decision of ours") as caught:
        Decision.from_json(json.dumps({**whole.record(), **change}))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", b"\xff", "{}"])
def test_other_text_is_refused(text: str | bytes) -> None:
    with pytest.raises(NotADecision):
        Decision.from_json(text)


def test_it_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Decision("7", ("A",), (), (), {}).arm = ("B",)  # type: ignore[misc]


def test_at_once_or_field_by_field_is_the_same() -> None:
    index: dict[tuple[object, ...], float] = {("A",): 0.5}
    fields = ("7", ("A",), (0,), (1.0,), index, (("A",),), 2, 0.5, "forced")

    assert Decision.at_once(*fields) == Decision(*fields)
    assert vars(Decision.at_once(*fields)) == vars(Decision(*fields))
    with pytest.raises(FrozenInstanceError):
        Decision.at_once(*fields).id = "8"  # type: ignore[misc]


def test_a_decision_written_before_there_were_branches_is_read() -> None:
    whole = Decision("7", ("A",), (), (1.0,), {("A",): 0.5})
    old = {key: value for key, value in whole.record().items() if key != "branch"}

    assert Decision.from_json(json.dumps(old)) == whole

import copy
import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.bandit.decision import Decision
from boundit.bandit.errors import NotADecision
from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.scores import Scores
from tests.bandit.all_policies import change

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
        Decision("7", ("A",), (), (), {}).arm = ("B",)


def made() -> Decision:
    ranked_arms = RankedArms.of(
        [RankedArm(("A",), 0.0, 0.5, 0), RankedArm(("B",), 0.0, 0.4, 1)]
    )
    score_table = ranked_arms.blank_table.copy()
    score_table[:, FREE_SCORE], score_table[:, SCORE] = [0.7, 0.1], [0.5, np.nan]
    chances = np.array([0.25, 0.75])
    scores = Scores(
        ranked_arms, (0, 1), score_table, win_chances=lambda _: chances, branch="forced"
    )
    return Decision.of("7", scores.arm, (0,), scores)


def test_a_decision_that_was_made_has_the_fields_of_one_that_was_written() -> None:
    written = Decision("7", ("A",), (0,), (), {("A",): 0.5}, (("A",),), 1, 0.25, "forced")

    assert made() == written
    assert made().record() == written.record()
    assert repr(made()) == repr(written)
    assert change(made(), id="8") == change(written, id="8") != written
    for twin in (copy.copy(made()), copy.deepcopy(made()), pickle.loads(pickle.dumps(made()))):
        assert twin == written
        assert twin.reasons.rows is None


def test_the_chances_of_all_arms_are_written_where_they_are_asked_for() -> None:
    chances = {("A",): 0.25, ("B",): 0.75}

    assert made().propensities == chances
    assert "propensities" not in made().record()
    assert Decision.from_json(made().to_json()).propensities is None
    for twin in (Decision.from_json(made().to_json(propensities=True)), copy.copy(made())):
        assert twin == made()
        assert twin.propensities == chances
    with pytest.raises(NotADecision):
        Decision.from_json({**made().record(), "propensities": 3})


def test_what_is_worked_out_is_kept_and_nothing_can_be_set() -> None:
    decision = made()

    assert decision.index is decision.index
    with pytest.raises(FrozenInstanceError):
        decision.id = "8"
    with pytest.raises(AttributeError):
        decision.reward  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(written_by_hand(), "reward")


def written_by_hand() -> Decision:
    return Decision("7", ("A",), (), (1.0,), {("A",): 0.5})


def test_one_written_by_hand_has_its_defaults() -> None:
    one = written_by_hand()

    assert (one.capped, one.skipped, one.propensity, one.branch) == ((), 0, 1.0, None)
    assert one.reasons.rows is None


def test_a_decision_written_before_there_were_branches_is_read() -> None:
    whole = Decision("7", ("A",), (), (1.0,), {("A",): 0.5})
    old = {key: value for key, value in whole.record().items() if key != "branch"}

    assert Decision.from_json(json.dumps(old)) == whole

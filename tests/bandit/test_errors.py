import inspect

import pytest

from boundit.bandit import errors
from boundit.bandit.errors import (
    BadArm,
    BadContext,
    BadFeatures,
    BadObservation,
    BadOption,
    BadReward,
    CannotMerge,
    DamagedState,
    ForeignBounds,
    InvalidPolicy,
    InvalidState,
    InvalidStep,
    NeedsArms,
    NotADecision,
    OtherArms,
)
from boundit.terms.errors import BounditError

CASES: list[tuple[BounditError, str]] = [
    (BadOption("alpha", "a number above 0", -1), "alpha must be a number above 0, found -1"),
    (NeedsArms(), "there are no arms to choose from; give the policy arms=[...] or prior=, "
     "or pass arms=[...] to decide"),
    (ForeignBounds("arms", (("A",),), (("B",),)),
     "the bounds are for other arms: the policy has (('A',),), the table (('B',),)"),
    (OtherArms([("D",)], [("B",)]), "the arms of this policy were given, and the new table has "
     "('D',) and lacks ('B',); say which arms it holds from now on: "
     "refresh(table, arms=[...])"),
    (BadArm(("A",), "an arm has 2 values"), "('A',) is no arm here: an arm has 2 values"),
    (BadContext({"U": 1}, "it has no value for 'V'"),
     "{'U': 1} is no context here: it has no value for 'V'"),
    (BadFeatures(("A",), "are not all finite"),
     "the features of arm ('A',) are not all finite"),
    (BadReward(7, (0, 1), "x"), "the reward of decision 'x' must be a number from 0 to 1, "
     "found 7; reward_range= declares another"),
    (BadObservation([1]),
     "observed must map names to values, such as {'Age': 3}, found [1]"),
    (NotADecision("dict is no decision"), "dict is no decision; learn takes what decide gave, "
     "or what Decision.from_json reads back"),
    (DamagedState("UCB", "it is one of TS"), "this is no state of UCB: it is one of TS"),
    (CannotMerge("both have learned '7'"), "cannot merge: both have learned '7'"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "line"), CASES)
def test_messages(error: BounditError, line: str) -> None:
    assert str(error) == line


def test_every_error_of_this_room_belongs_to_one_of_three() -> None:
    own = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__
    ]
    assert all(issubclass(kind, InvalidPolicy | InvalidStep | InvalidState) for kind in own)
    assert {type(error) for error, _ in CASES} == set(own) - {
        InvalidPolicy,
        InvalidStep,
        InvalidState,
    }

"""What a policy cannot be, cannot do, and cannot be restored from.

.. code-block:: text

    InvalidPolicy                  options that make no policy
    ├── BadOption                  a number where another kind of number belongs
    ├── NeedsArms                  nothing to choose from
    ├── OtherArms                  bounds whose arms are not those that were given
    └── ForeignBounds              bounds of other arms, contexts or rewards
    InvalidStep                    a decision or a reward that cannot be
    ├── BadArm                     an arm that is none
    ├── BadContext                 a context that is none
    ├── BadFeatures                a feature vector that does not fit
    ├── BadReward                  not a number inside its range
    ├── BadObservation             no names with values, or a name that is not known
    └── NotADecision               something else, or a damaged one
    InvalidState
    ├── DamagedState               it is not one of ours, or no longer
    └── CannotMerge                two policies whose statistics do not add up
"""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from boundit.terms.errors import BounditError, shorten
from boundit.terms.message import ANY, SOME, Option
from boundit.terms.names import join_names, sort_names


class InvalidPolicy(BounditError):
    """Options that make no policy."""


class BadOption(InvalidPolicy):
    """An option whose value makes no sense; ``name`` may be a part of it, such as an entry."""

    def __init__(
        self, name: str, expected: str, found: object, *, option: str | None = None
    ) -> None:
        self.name, self.expected = name, expected
        shown = shorten(repr(found), 60)
        super().__init__(f"{name} must be {expected}, found {shown}", option=option or name)


class NeedsArms(InvalidPolicy):
    """A policy that has nothing to choose from."""

    def __init__(self) -> None:
        super().__init__(
            "there are no arms to choose from; give the policy ",
            Option("arms", [SOME]),
            " or ",
            Option("prior", ANY),
            ", or pass ",
            Option("arms", [SOME]),
            " to decide",
        )


class ForeignBounds(InvalidPolicy):
    """A table of bounds about other arms, other contexts or another reward."""

    def __init__(self, what: str, expected: object, found: object) -> None:
        self.what = what
        super().__init__(
            f"the bounds are for other {what}: the policy has "
            f"{shorten(repr(expected), 60)}, the table {shorten(repr(found), 60)}"
        )


class OtherArms(InvalidPolicy):
    """A new table of bounds for a policy whose arms were given, and are not the table's."""

    def __init__(self, new: Sequence[object], gone: Sequence[object]) -> None:
        self.new, self.gone = tuple(new), tuple(gone)
        found = [
            f"{word} {shorten(', '.join(map(repr, arms)), 60)}"
            for word, arms in (("has", self.new), ("lacks", self.gone))
            if arms
        ]
        super().__init__(
            f"the arms of this policy were given, and the new table {' and '.join(found)}; "
            "say which arms it holds from now on: refresh(table, ",
            Option("arms", [SOME]),
            ")",
            option="arms",
        )


class InvalidStep(BounditError):
    """A decision or a reward that cannot be."""


class BadArm(InvalidStep):
    """Something that is no arm of this policy."""

    def __init__(self, arm: object, reason: str) -> None:
        self.arm = arm
        super().__init__(f"{shorten(repr(arm), 60)} is no arm here: {reason}")


class BadContext(InvalidStep):
    """Something that is no context of this policy."""

    def __init__(self, context: object, reason: str) -> None:
        self.context = context
        super().__init__(f"{shorten(repr(context), 60)} is no context here: {reason}")


class BadFeatures(InvalidStep):
    """A feature vector that does not fit."""

    def __init__(self, arm: object, reason: str) -> None:
        self.arm = arm
        super().__init__(f"the features of arm {shorten(repr(arm), 60)} {reason}")


class BadReward(InvalidStep):
    """A reward that is no number, or not one of its range."""

    def __init__(self, reward: object, reward_range: Sequence[float], where: str) -> None:
        self.reward, self.where = reward, where
        low, high = reward_range
        super().__init__(
            f"the reward of decision {shorten(repr(where), 60)} must be a number from "
            f"{low:g} to {high:g}, found {shorten(repr(reward), 40)}; ",
            Option("reward_range", ANY),
            " declares another",
        )


class BadObservation(InvalidStep):
    """Something that does not say what was observed, or a variable that nobody observes."""

    def __init__(self, found: object, known: Collection[str] = ()) -> None:
        shown = shorten(repr(found), 60)
        if not known:
            wanted = "observed must map names to values, such as {'Age': 3}"
            super().__init__(f"{wanted}, found {shown}")
            return
        names = sort_names(known)
        near = get_close_matches(str(found), names, n=1, cutoff=0.5) or [
            name for name in names if name.casefold() == str(found).casefold()
        ]
        hint = f"did you mean {near[0]!r}? " if near else ""
        super().__init__(
            f"observed names {shown}, which this policy does not know; {hint}it observes "
            f"{shorten(join_names(names))}"
        )


class NotADecision(InvalidStep):
    """Something other than a decision, or a damaged one."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{shorten(reason)}; learn takes what decide gave, "
            "or what Decision.from_json reads back"
        )


class InvalidState(BounditError):
    """A state that no policy can be made from."""


class DamagedState(InvalidState):
    """A state that is not one of ours, or no longer."""

    def __init__(self, policy: str, reason: str) -> None:
        self.policy, self.reason = policy, reason
        super().__init__(f"this is no state of {policy}: {shorten(reason)}")


class CannotMerge(InvalidState):
    """Two policies whose statistics do not add up."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"cannot merge: {shorten(reason)}")

"""What a policy decided, and why: a frozen value that survives a restart."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar, final

from boundit.bandit.errors import NotADecision
from boundit.bandit.level_codec import (
    Record,
    read_values,
    spelled_number,
    spelled_values,
)
from boundit.bandit.scores import Scores
from boundit.terms.bound import Arm, Context

_UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
)


@final
@dataclass(frozen=True)
class Decision:
    """The arm to play for one visitor, and the reasons.

    ``index`` has the score of every arm that was scored, ``skipped`` counts the arms whose
    upper end alone ruled them out, ``capped`` are those whose score the prior lowered.
    ``propensity`` is the chance of this arm under the policy's own randomness: 1 for a
    deterministic policy, None where a sampling policy was told not to work it out. ``branch``
    names the part of an algorithm that chose, where there are several. What a policy decided
    is fixed at once, and the reasons are spelled out when somebody reads them.
    """

    id: str
    arm: Arm
    context: Context
    features: tuple[float, ...]
    index: Mapping[Arm, float]
    # A plain default would be found on the class before what is worked out later.
    capped: tuple[Arm, ...] = field(default_factory=tuple)
    skipped: int = field(default_factory=int)
    propensity: float | None = field(default_factory=lambda: 1.0)
    branch: str | None = field(default_factory=lambda: None)

    outcome: ClassVar[Scores | None] = None
    """What it was made of, as long as it stays where it was made."""

    @classmethod
    def of(cls, name: str, context: Context, outcome: Scores) -> "Decision":
        """Make one of what a policy came to; the reasons are worked out when asked for."""
        made = object.__new__(cls)
        known = made.__dict__
        known["id"], known["context"], known["outcome"] = name, context, outcome
        known["arm"] = outcome.lineup[outcome.winner].arm
        return made

    if not TYPE_CHECKING:  # a checker would take any name for one that there is

        def __getattr__(self, name: str) -> object:
            if self.outcome is None or name not in self.__dataclass_fields__:
                raise AttributeError(f"a decision has no {name!r}", name=name, obj=self)
            self.__dict__[name] = value = getattr(self.outcome, name)
            return value

    def __reduce__(self) -> tuple[type["Decision"], tuple[object, ...]]:
        # A copy has the values and not what they were made of.
        return Decision, tuple(getattr(self, part.name) for part in fields(self))

    def __hash__(self) -> int:
        """Equal decisions have one id."""
        return hash(self.id)

    def record(self) -> Record:
        """Spell it as a JSON object."""
        return {
            "id": self.id,
            "arm": spelled_values(self.arm),
            "context": spelled_values(self.context),
            "features": list(self.features),
            "index": [[spelled_values(a), spelled_number(i)] for a, i in self.index.items()],
            "capped": [spelled_values(arm) for arm in self.capped],
            "skipped": self.skipped,
            "propensity": self.propensity,
            "branch": self.branch,
        }

    def to_json(self) -> str:
        """Spell it as JSON text, to be kept until the reward is known."""
        return json.dumps(self.record(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes | Mapping[str, object]) -> "Decision":
        """Read back what ``to_json`` or ``record`` wrote.

        >>> shown = Decision("7", ("B",), (), (), {("A",): 0.2, ("B",): float("inf")})
        >>> Decision.from_json(shown.to_json()) == shown
        True
        """
        try:
            found = dict(text) if isinstance(text, Mapping) else json.loads(text)
            return cls._read(found)
        except _UNREADABLE as error:
            reason = f"this is no decision of ours ({type(error).__name__}: {error})"
            raise NotADecision(reason.replace("\n", " ")) from None

    @classmethod
    def _read(cls, record: Record) -> "Decision":
        if not isinstance(record["id"], str):
            raise TypeError("the id is no text")
        features = tuple(map(float, record["features"]))
        if not all(map(math.isfinite, features)):
            raise ValueError("a feature is not finite")
        propensity, branch = record["propensity"], record.get("branch")
        if not isinstance(branch, str | None):
            raise TypeError("the branch is no text")
        return cls(
            id=record["id"],
            arm=read_values(record["arm"]),
            context=read_values(record["context"]),
            features=features,
            index={read_values(arm): float(index) for arm, index in record["index"]},
            capped=tuple(map(read_values, record["capped"])),
            skipped=int(record["skipped"]),
            propensity=None if propensity is None else float(propensity),
            branch=branch,
        )

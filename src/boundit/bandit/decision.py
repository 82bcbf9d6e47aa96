"""What a policy decided, and why: a frozen value that survives a restart."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from boundit.bandit.codec import (
    Record,
    read_values,
    spelled_number,
    spelled_values,
)
from boundit.bandit.errors import NotADecision
from boundit.terms.bound import Arm, Context


@final
@dataclass(frozen=True)
class Decision:
    """The arm to play for one visitor, and the reasons.

    ``index`` has the score of every arm that was scored, ``skipped`` counts the arms whose
    upper end alone ruled them out, ``capped`` are those whose score the prior lowered.
    ``propensity`` is the chance of this arm under the policy's own randomness: 1 for a
    deterministic policy, None where a sampling policy was told not to work it out. ``branch``
    names the part of an algorithm that chose, where there are several.
    """

    id: str
    arm: Arm
    context: Context
    features: tuple[float, ...]
    index: Mapping[Arm, float]
    capped: tuple[Arm, ...] = ()
    skipped: int = 0
    propensity: float | None = 1.0
    branch: str | None = None

    @classmethod
    def at_once(
        cls,
        id: str,  # noqa: A002, as the field is called
        arm: Arm,
        context: Context,
        features: tuple[float, ...],
        index: Mapping[Arm, float],
        capped: tuple[Arm, ...],
        skipped: int,
        propensity: float | None,
        branch: str | None,
    ) -> "Decision":
        """Make one without a call for each frozen field; deciding itself takes no longer."""
        made = object.__new__(cls)
        vars(made).update(
            id=id,
            arm=arm,
            context=context,
            features=features,
            index=index,
            capped=capped,
            skipped=skipped,
            propensity=propensity,
            branch=branch,
        )
        return made

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
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
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

"""What a policy decided, and why: a frozen value that survives a restart."""

import json
import math
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import NoReturn, Protocol, TypeAlias, final

from boundit.bandit.errors import NotADecision
from boundit.bandit.scores import FeatureRows
from boundit.bandit.serialization import Record, decode_values, encode_values
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context
from boundit.terms.public_names import find_forwarded
from boundit.terms.saving.codec import decode, encode

_make_blank = object.__new__
_UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
)


class Reasons(Protocol):
    """Why an arm was chosen: ``Scores``, which work it out when asked, or ``StatedReasons``."""

    @property
    def features(self) -> tuple[float, ...]:
        """The chosen arm's features, as the linear policies and OAM learn them."""
        ...

    @property
    def index(self) -> Mapping[Arm, float]:
        """The score (index or draw) of every arm scored; read by ``Decision.index``."""
        ...

    @property
    def capped(self) -> tuple[Arm, ...]:
        """The arms whose score the prior bounds lowered; read by ``Decision.capped``."""
        ...

    @property
    def skipped(self) -> int:
        """The number of arms not scored, as their upper end alone ruled them out."""
        ...

    @property
    def propensity(self) -> float | None:
        """The chance that the policy's own randomness chose this arm, None if not wanted."""
        ...

    @property
    def propensities(self) -> Mapping[Arm, float] | None:
        """The chance of every arm of the call, None if not wanted or not kept."""
        ...

    @property
    def branch(self) -> str | None:
        """The part of the algorithm that chose, such as OAM's ``exploit``, None without parts."""
        ...

    @property
    def rows(self) -> FeatureRows | None:
        """The features of all arms scored; None for a decision read back from JSON."""
        ...

    @property
    def winner(self) -> int:
        """The row of the chosen arm in ``rows``; read by ``RidgeModels._find_row``."""
        ...

    @property
    def spec(self) -> BanditSpec | None:
        """The spec that read the context to decide; None for a decision from elsewhere."""
        ...


@final
@dataclass(frozen=True)
class StatedReasons:
    """Reasons as plain values, such as JSON keeps."""

    features: tuple[float, ...]
    index: Mapping[Arm, float]
    capped: tuple[Arm, ...]
    skipped: int
    propensity: float | None
    branch: str | None = None
    propensities: Mapping[Arm, float] | None = field(default=None, compare=False)
    rows: FeatureRows | None = field(default=None, compare=False)
    winner: int = field(default=0, compare=False)

    @property
    def spec(self) -> None:
        """No spec, as the decision may come from anywhere; read by ``BasePolicy.learn``."""
        return


_Chances: TypeAlias = Mapping[Arm, float]
_REASONS = tuple(part.name for part in fields(StatedReasons) if part.compare)


@final
class Decision:
    """The arm to play for one visitor, and the reasons.

    ``index`` has the score of every arm that was scored, ``skipped`` counts the arms whose
    upper end alone ruled them out, ``capped`` are those whose score the prior lowered.
    ``propensity`` is the chance of this arm under the policy's own randomness, and
    ``propensities`` that of every arm of the call: 1 and 0 for a deterministic policy that does
    not ``explore``, None where a sampling policy was told not to work them out. ``branch``
    names the part of an algorithm that chose, where there are several, and is ``explore`` where
    the arm was drawn uniformly. What a policy decided
    is fixed at once, and the reasons are spelled out when somebody reads them: the constructor
    takes them as stated, and ``Decision.of`` takes what states them when asked.
    """

    id: str
    arm: Arm
    context: Context
    reasons: Reasons

    def __init__(
        self,
        id: str,  # noqa: A002, the word users know
        arm: Arm,
        context: Context,
        features: tuple[float, ...] = (),
        index: Mapping[Arm, float] | None = None,
        capped: tuple[Arm, ...] = (),
        skipped: int = 0,
        propensity: float | None = 1.0,
        branch: str | None = None,
        propensities: Mapping[Arm, float] | None = None,
    ) -> None:
        said = features, index or {}, capped, skipped, propensity, branch, propensities
        reasons = StatedReasons(*said)
        self.__dict__.update(id=id, arm=arm, context=context, reasons=reasons)

    @staticmethod
    def of(id: str, arm: Arm, context: Context, reasons: Reasons) -> "Decision":  # noqa: A002
        """Make a decision whose reasons are told when asked; quicker than the constructor."""
        made: Decision = _make_blank(Decision)
        held = made.__dict__
        held["id"] = id
        held["arm"] = arm
        held["context"] = context
        held["reasons"] = reasons
        return made

    @property
    def features(self) -> tuple[float, ...]:
        """The features of the arm in this context, none where a policy needs none."""
        return self.reasons.features

    @property
    def index(self) -> Mapping[Arm, float]:
        """The score (index or draw) of every arm that was scored, by arm."""
        return self.reasons.index

    @property
    def capped(self) -> tuple[Arm, ...]:
        """The arms whose score the prior bounds lowered."""
        return self.reasons.capped

    @property
    def skipped(self) -> int:
        """The number of arms that needed no score, since their upper end ruled them out."""
        return self.reasons.skipped

    @property
    def propensity(self) -> float | None:
        """The chance of this arm under the policy's own randomness; None if not wanted.

        Users log it for off-policy estimates; also read by ``Decision._values``.
        """
        return self.reasons.propensity

    @property
    def propensities(self) -> Mapping[Arm, float] | None:
        """The chance of every arm of the call, which add up to 1; worked out when first read.

        None where a policy was told not to work them out, and for a decision read back from
        JSON that was written without them.
        """
        return self.reasons.propensities

    @property
    def branch(self) -> str | None:
        """The part of the algorithm that chose, such as OAM's ``exploit``.

        None for algorithms of a single part.
        """
        return self.reasons.branch

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _values(self) -> dict[str, object]:
        """Give arm, context and all reasons, by the names of the constructor's arguments."""
        return {
            "id": self.id,
            "arm": self.arm,
            "context": self.context,
            "features": self.features,
            "index": self.index,
            "capped": self.capped,
            "skipped": self.skipped,
            "propensity": self.propensity,
            "branch": self.branch,
        }

    def __repr__(self) -> str:
        # The scores of very many arms, and chances that must be worked out first, stay away.
        return f"Decision(id={self.id!r}, arm={self.arm!r}, context={self.context!r})"

    def _repr_html_(self) -> str:
        """Show the arm and the scores behind it in a notebook."""
        shown: str = find_forwarded("show_decision")(self)
        return shown

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        """Equal decisions have one id."""
        return hash(self.id)

    def __reduce__(self) -> tuple[type["Decision"], tuple[object, ...]]:
        # A copy has the values and not what they were made of.
        return Decision, (*self._values().values(), self.propensities)

    def move_to(self, context: Context) -> "Decision":
        """Give the same decision in a context that says less: the bin of a number."""
        return Decision.of(self.id, self.arm, context, self.reasons)

    def record(self, *, propensities: bool = False) -> Record:
        """Write the decision as a JSON object, with the propensities of all arms if asked."""
        stated = StatedReasons(*(getattr(self, name) for name in _REASONS))
        everyone = self.propensities if propensities else None
        chances = {} if everyone is None else {"propensities": encode(everyone, _Chances)}
        key = {"arm": encode_values(self.arm), "context": encode_values(self.context)}
        return {"id": self.id, **key, **encode(stated), **chances}

    def to_json(self, *, propensities: bool = False) -> str:
        """Write the decision as JSON text; users keep it until the reward is known.

        With the propensities of all arms if asked.
        """
        return json.dumps(self.record(propensities=propensities), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes | Mapping[str, object]) -> "Decision":
        """Read back what ``to_json`` or ``record`` wrote; users then ``learn`` its reward.

        >>> shown = Decision("7", ("B",), (), (), {("A",): 0.2, ("B",): float("inf")})
        >>> Decision.from_json(shown.to_json()) == shown
        True
        """
        try:
            found = dict(text) if isinstance(text, Mapping) else json.loads(text)
            return cls._from_record(found)
        except _UNREADABLE as error:
            reason = f"this is no decision of ours ({type(error).__name__}: {error})"
            raise NotADecision(reason.replace("\n", " ")) from None

    @classmethod
    def _from_record(cls, record: Record) -> "Decision":
        """Make a decision from the JSON object that ``record`` wrote, or raise."""
        if not isinstance(record["id"], str):
            raise TypeError("the id is no text")
        arm, context = decode_values(record["arm"]), decode_values(record["context"])
        stated = {name: record[name] for name in _REASONS if name in record}
        reasons = decode(StatedReasons, stated)
        if "propensities" in record:
            chances = decode(_Chances, record["propensities"])
            reasons = replace(reasons, propensities=chances)
        if not all(map(math.isfinite, reasons.features)):
            raise ValueError("a feature is not finite")
        return cls.of(record["id"], arm, context, reasons)

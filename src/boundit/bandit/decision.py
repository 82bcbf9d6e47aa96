"""What a policy decided: one decision, or a batch. Frozen values that survive a restart as JSON."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.errors import NotADecision
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.spec import show
from boundit.core.codec import decode, encode
from boundit.core.public_names import find_forwarded, mark_renamed
from boundit.results.bound import Arm, Context, Value

EXPLORED = "explore"
FREE, INDEX = 0, 1
"""Columns of a table of scores: before and after truncation to the bounds."""
Numbers = Mapping[Arm, float]


class Scores(NamedTuple):
    """The arms of one context as a policy scored them, shared by all decisions until it learns.

    ``arms`` are those of the call, the ones that the prior rules out last, without a score;
    ``order`` has the place of each arm in the order of the call. ``winner`` is the place of the
    arm that an index policy plays, -1 where the arm is drawn from ``probabilities``. ``table``
    has a row for each arm that may be played: its score before and after truncation to the
    bounds. Where the goal is "min", scores are turned back for users: ``turn`` less the score.
    """

    arms: tuple[Arm, ...]
    order: tuple[int, ...]
    winner: int
    probabilities: Floats | None
    table: Floats
    treatments: tuple[str, ...] = ()
    explore: float = 0.0
    branch: str | None = None
    turn: float | None = None

    def find_propensity(self, place: int) -> float:
        """Find the probability that the policy's own randomness plays the arm at a place."""
        own = float(place == self.winner)
        if self.probabilities is not None:
            known = place < self.probabilities.size
            own = float(self.probabilities[place]) if known else 0.0
        explore = self.explore
        return explore / len(self.arms) + (1.0 - explore) * own if explore else own


class Decision:
    """The arm to play for one request, with the reasons.

    Attributes
    ----------
    id : str
        The name of the decision; its reward is learned once.
    arm : value or tuple
        The arm to play: with several treatments a tuple in the order of the query.
    context : value or tuple
        The context of the request, likewise.
    values : dict
        The arm by the names of the treatments, ``{"Reminder": "call"}``.
    propensity : float
        The probability of this arm under the policy's own randomness, exact.
    propensities : dict
        The same for every arm of the call.
    scores : dict
        The index or expected reward of each arm, as far as the policy looked at it.
    truncated : tuple
        The arms whose score was cut off at a prior bound.
    branch : str or None
        The part of the algorithm that chose; ``explore`` where the arm was drawn evenly.
    """

    id: str
    arm_values: Arm
    context_values: Context
    place: int
    reasons: Scores
    branch: str | None

    def __init__(
        self,
        id: str,  # noqa: A002, the word users know
        arm: Arm,
        context: Context,
        place: int,
        reasons: Scores,
        branch: str | None,
    ) -> None:
        held = self.__dict__
        held["id"], held["arm_values"], held["context_values"] = id, arm, context
        held["place"], held["reasons"], held["branch"] = place, reasons, branch

    @property
    def arm(self) -> Any:
        """The arm to play: a scalar with one treatment, else a tuple."""
        return show(self.arm_values)

    @property
    def context(self) -> Any:
        """The context of the request: a scalar with one variable, else a tuple."""
        return show(self.context_values)

    @property
    def values(self) -> dict[str, Value]:
        """The arm by the names of the treatments; ``arm`` where they have none."""
        return name_values(self.reasons.treatments, self.arm_values)

    @property
    def propensity(self) -> float:
        """The probability of this arm under the policy's own randomness."""
        return self.reasons.find_propensity(self.place)

    @property
    def propensities(self) -> dict[Any, float]:
        """The probability of every arm of the call."""
        reasons = self.reasons
        return {show(reasons.arms[k]): reasons.find_propensity(k) for k in reasons.order}

    @property
    def scores(self) -> dict[Any, float]:
        """The score of each arm that may be played, truncated to the prior bounds."""
        turn, index = self.reasons.turn, self.reasons.table[:, INDEX]
        found = (index if turn is None else turn - index).tolist()
        return dict(zip(map(show, self.reasons.arms), found, strict=False))

    @property
    def truncated(self) -> tuple[Any, ...]:
        """The arms whose score was cut off at the bound that says how good they can be."""
        table = self.reasons.table
        lowered = (table[:, INDEX] < table[:, FREE]).tolist()
        pairs = zip(self.reasons.arms, lowered, strict=False)
        return tuple(show(arm) for arm, low in pairs if low)

    def record(self, *, propensities: bool = False) -> dict[str, Any]:
        """Write the decision as a JSON object; with the propensities of all arms if asked."""
        found = {
            "id": self.id,
            "arm": encode(self.arm_values, Arm),
            "context": encode(self.context_values, Context),
            "treatments": list(self.reasons.treatments),
            "propensity": encode(self.propensity, float),
            "branch": self.branch,
            "scores": encode(_by_tuple(self.scores), Numbers),
            "truncated": encode(tuple(map(_as_tuple, self.truncated)), tuple[Arm, ...]),
        }
        if propensities:
            found["propensities"] = encode(_by_tuple(self.propensities), Numbers)
        return found

    def to_json(self, *, propensities: bool = False) -> str:
        """Write the decision as JSON text, so that its reward can be learned after a restart."""
        return json.dumps(self.record(propensities=propensities), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes | Mapping[str, Any]) -> "Decision":
        """Read what ``to_json`` or ``record`` wrote."""
        try:
            found = dict(text) if isinstance(text, Mapping) else json.loads(text)
            arm, context = decode(Arm, found["arm"]), decode(Context, found["context"])
            if not isinstance(found["id"], str) or not isinstance(found["branch"], str | None):
                raise TypeError("id and branch are text")  # noqa: TRY301, named below
            return cls(found["id"], arm, context, *_read_reasons(found, arm), found["branch"])
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise NotADecision(f"{type(error).__name__}: {error}") from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return False
        return self.record() == other.record()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        about = f", context={self.context!r}" if self.context_values else ""
        return (
            f"Decision(arm={self.arm!r}{about}, propensity={self.propensity:.3g}, "
            f"id={self.id!r})"
        )

    def _repr_html_(self) -> str:
        """Show the decision in a notebook."""
        shown: str = find_forwarded("show_decision")(self)
        return shown


mark_renamed(Decision, {"capped": "truncated", "index": "scores"})


def name_values(names: Sequence[str], values: tuple[Value, ...]) -> dict[str, Value]:
    """Give values by their names; without names they are ``arm``, ``arm 2``, ...

    >>> name_values(["Reminder"], ("call",)), name_values([], ("A", "B"))
    ({'Reminder': 'call'}, {'arm': 'A', 'arm 2': 'B'})
    """
    found = names or ("arm", *(f"arm {i}" for i in range(2, len(values) + 1)))
    return dict(zip(found, values, strict=False))


def _as_tuple(shown: Any) -> Arm:
    return shown if isinstance(shown, tuple) else (shown,)


def _by_tuple(shown: Mapping[Any, float]) -> dict[Arm, float]:
    return {_as_tuple(arm): number for arm, number in shown.items()}


def _read_reasons(found: Mapping[str, Any], arm: Arm) -> tuple[int, Scores]:
    """Read the place of the arm, and the scores that were written with it."""
    scores = decode(Numbers, found["scores"])
    given = decode(Numbers, found["propensities"]) if "propensities" in found else {}
    arms = tuple(dict.fromkeys((*scores, *given, arm)))
    place, truncated = arms.index(arm), set(decode(tuple[Arm, ...], found["truncated"]))
    probabilities = np.array([given.get(one, math.nan) for one in arms])
    probabilities[place] = decode(float, found["propensity"])
    table = np.array([[scores[one]] * 2 for one in scores]).reshape(-1, 2)
    table[[one in truncated for one in scores], FREE] = math.inf
    order = tuple(arms.index(one) for one in given) or (place,)
    names = decode(tuple[str, ...], found["treatments"])
    return place, Scores(arms, order, -1, probabilities, table, names)


class Decisions(Sequence[Decision]):
    """The decisions of one ``decide_many``: arrays, and a ``Decision`` on demand."""

    def __init__(
        self,
        ids: list[str],
        contexts: list[Context],
        groups: Ints,
        scores: list[Scores],
        places: Ints,
        explored: NDArray[np.bool_],
    ) -> None:
        self.ids, self.contexts, self.groups, self.scores = ids, contexts, groups, scores
        self.places, self.explored = places, explored

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, i: int) -> Decision: ...
    @overload
    def __getitem__(self, i: slice) -> list[Decision]: ...
    def __getitem__(self, i: int | slice) -> Decision | list[Decision]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        scores, place = self.scores[self.groups[i]], int(self.places[i])
        branch = EXPLORED if self.explored[i] else scores.branch
        return Decision(
            self.ids[i], scores.arms[place], self.contexts[i], place, scores, branch
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def arms(self) -> list[Any]:
        """The arm of every decision."""
        pairs = zip(self.groups.tolist(), self.places.tolist(), strict=True)
        return [show(self.scores[group].arms[place]) for group, place in pairs]

    @property
    def propensities(self) -> Floats:
        """The probability of the arm of every decision."""
        pairs = zip(self.groups.tolist(), self.places.tolist(), strict=True)
        return np.array([self.scores[g].find_propensity(place) for g, place in pairs])

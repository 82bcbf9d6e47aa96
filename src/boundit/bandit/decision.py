"""What a policy decided: one decision, or a batch of them. Frozen values that survive a restart as JSON."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple, NoReturn

import numpy as np
from boundit.terms.bound import Arm, Context
from boundit.terms.saving.codec import decode, encode

from boundit.bandit.draws import Floats, Ints
from boundit.bandit.errors import InvalidStep

EXPLORED = "explore"


class Scores(NamedTuple):
    """The arms of one context as a policy scored them, shared by all its decisions there until it learns.

    `arms` are those of the call, the ones that the prior rules out last, without score; `order` has the place there of
    each arm in the order of the call. `winner` is the place of the arm that an index policy plays, -1 where the arm is
    drawn from `probabilities`. `index` has the score of each arm, truncated to the bounds; `free` the same before.
    """

    arms: tuple[Arm, ...]
    order: tuple[int, ...]
    winner: int
    probabilities: Floats | None
    index: Floats
    free: Floats
    explore: float = 0.0
    branch: str | None = None

    def find_propensity(self, place: int) -> float:
        """The probability that the policy's own randomness plays the arm at `place`."""
        own = float(place == self.winner)
        if self.probabilities is not None:
            own = float(self.probabilities[place]) if place < self.probabilities.size else 0.0
        return self.explore / len(self.arms) + (1.0 - self.explore) * own if self.explore else own


class Decision:
    """The arm to play for one request, with the reasons.

    `propensity` is the probability of this arm under the policy's own randomness, `propensities` that of every arm of
    the call; both are exact. `index` is each arm's score, `capped` the arms whose score the prior bounds lowered, and
    `branch` the part of an algorithm that chose, `explore` where the arm was drawn uniformly.
    """

    id: str
    arm: Arm
    context: Context
    place: int
    scores: Scores
    branch: str | None

    def __init__(self, id: str, arm: Arm, context: Context, place: int, scores: Scores, branch: str | None) -> None:
        held = self.__dict__
        held["id"], held["arm"], held["context"] = id, arm, context
        held["place"], held["scores"], held["branch"] = place, scores, branch

    @property
    def propensity(self) -> float:
        return self.scores.find_propensity(self.place)

    @property
    def propensities(self) -> dict[Arm, float]:
        scores = self.scores
        return {scores.arms[k]: scores.find_propensity(k) for k in scores.order}

    @property
    def index(self) -> dict[Arm, float]:
        return dict(zip(self.scores.arms, self.scores.index.tolist(), strict=False))

    @property
    def capped(self) -> tuple[Arm, ...]:
        lowered = (self.scores.index < self.scores.free).tolist()
        return tuple(arm for arm, low in zip(self.scores.arms, lowered, strict=False) if low)

    def record(self, *, propensities: bool = False) -> dict[str, Any]:
        """Write the decision as a JSON object; with the propensities of all arms if asked."""
        found = {
            "id": self.id,
            "arm": encode(self.arm, Arm),
            "context": encode(self.context, Context),
            "propensity": self.propensity,
            "branch": self.branch,
            "index": encode(self.index, Mapping[Arm, float]),
            "capped": encode(self.capped, tuple[Arm, ...]),
        }
        if propensities:
            found["propensities"] = encode(self.propensities, Mapping[Arm, float])
        return found

    def to_json(self, *, propensities: bool = False) -> str:
        return json.dumps(self.record(propensities=propensities), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes | Mapping[str, Any]) -> "Decision":
        """Read what `to_json` wrote, also that of release 0.2.0, whose further keys are not needed to learn."""
        try:
            found = dict(text) if isinstance(text, Mapping) else json.loads(text)
            arm, context = decode(Arm, found["arm"]), decode(Context, found["context"])
            if not isinstance(found["id"], str):
                raise TypeError("the id is not text")
            index = decode(Mapping[Arm, float], found.get("index") or [])
            arms = tuple(index) if arm in index else (*index, arm)
            place = arms.index(arm)
            scored = np.array([index.get(one, math.nan) for one in arms])
            told = decode(Mapping[Arm, float], found["propensities"]) if "propensities" in found else None
            probabilities = np.full(len(arms), math.nan)
            probabilities[place] = found["propensity"] if found.get("propensity") is not None else math.nan
            if told:
                probabilities = np.array([told.get(one, 0.0) for one in arms])
            return cls(found["id"], arm, context, place, Scores(arms, tuple(range(len(arms))), -1, probabilities, scored, scored), found.get("branch"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidStep(f"this is not a decision ({type(error).__name__}: {error})") from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.record(propensities=True) == other.record(propensities=True)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Decision(id={self.id!r}, arm={self.arm!r}, context={self.context!r})"


class Decisions(Sequence[Decision]):
    """The decisions of one `decide_many`: arrays, and a `Decision` for whoever asks for one."""

    def __init__(
        self, ids: list[str], contexts: list[Context], groups: Ints, scores: list[Scores], places: Ints, explored: Ints
    ) -> None:
        self.ids, self.contexts, self.groups, self.scores = ids, contexts, groups, scores
        self.places, self.explored = places, explored

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        group = int(self.groups[i])
        scores, place = self.scores[group], int(self.places[i])
        branch = EXPLORED if self.explored[i] else scores.branch
        return Decision(self.ids[i], scores.arms[place], self.contexts[group], place, scores, branch)

    def __iter__(self) -> Iterator[Decision]:
        return (self[i] for i in range(len(self)))

    @property
    def arms(self) -> list[Arm]:
        pairs = zip(self.groups.tolist(), self.places.tolist(), strict=True)
        return [self.scores[group].arms[place] for group, place in pairs]

    @property
    def propensities(self) -> Floats:
        pairs = zip(self.groups.tolist(), self.places.tolist(), strict=True)
        return np.array([self.scores[group].find_propensity(place) for group, place in pairs])

"""Rewards of many decisions, read and checked before anything is learned from them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self, cast

import numpy as np

from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption, NotADecision
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.many.decisions import Decisions, number_by_first
from boundit.bandit.many.rows import Observed, name_row, require_length
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Context
from boundit.terms.errors import BounditError

_NUMBERS = frozenset({float, int, bool})


class RewardBatch(NamedTuple):
    """Rewards in the order they are learned, and the decisions they came from.

    ``kinds`` has one decision for each arm, context and features, in the order they come first;
    ``cells`` are their contexts as the prior has them, and ``places`` the kind of each reward.
    ``rows`` are the rows of the call, and ``observed`` what each round showed besides.
    """

    kinds: list[Decision]
    cells: list[Context]
    places: Places
    rewards: Floats
    rows: list[int]
    observed: list[Observed]

    def find_row(self, kind: int) -> int:
        """Find the row of the call that has the first reward of a kind, to name it in an error."""
        return self.rows[int(np.argmax(self.places == kind))]

    def keep_new(self, new: Sequence[bool]) -> Self:
        """Keep the rewards of decisions that were not learned from before."""
        if all(new):
            return self
        kept = np.flatnonzero(np.array(new, np.bool_))
        firsts, places = number_by_first(self.places[kept])
        old = self.places[kept]
        return self._replace(
            kinds=[self.kinds[old[i]] for i in firsts],
            cells=[self.cells[old[i]] for i in firsts],
            places=places,
            rewards=self.rewards[kept],
            rows=[self.rows[i] for i in kept.tolist()],
            observed=[self.observed[i] for i in kept.tolist()],
        )


def list_decisions(given: object) -> Sequence[Decision]:
    """List the decisions of a call, or name the row that is none."""
    if isinstance(given, Decisions):
        return given
    if isinstance(given, str | bytes | Decision) or not isinstance(given, Iterable):
        raise BadOption("decisions", "a list of decisions", given)
    found = list(given)
    for row, decision in enumerate(found):
        if not isinstance(decision, Decision):
            raise name_row(NotADecision(f"{type(decision).__name__} is no decision"), row)
    return cast("list[Decision]", found)


def list_ids(decisions: Sequence[Decision]) -> list[str]:
    """List the ids of decisions, or name the row of one that is no text."""
    if isinstance(decisions, Decisions):
        return decisions.ids
    for row, decision in enumerate(decisions):
        if not isinstance(decision.id, str):
            raise name_row(NotADecision(f"its id is no text: {decision.id!r}"), row)
    return [decision.id for decision in decisions]


def group_decisions(decisions: Sequence[Decision]) -> tuple[list[Decision], Places]:
    """Group decisions that teach the same: of one arm, context and features.

    Gives one of each kind, in the order they come, and the kind of each.
    """
    if isinstance(decisions, Decisions):
        return decisions.group_alike()
    kinds, places = dict[object, int](), list[int]()
    firsts = list[Decision]()
    for row, decision in enumerate(decisions):
        rows = decision.reasons.rows
        taught = decision.features if rows is None else (id(rows), decision.reasons.winner)
        try:
            place = kinds.setdefault((decision.context, decision.arm, taught), len(kinds))
        except TypeError:
            reason = "its arm, context or features are no tuple of values"
            raise name_row(NotADecision(reason), row) from None
        if place == len(firsts):
            firsts.append(decision)
        places.append(place)
    return firsts, np.array(places, np.int64)


def read_rewards(spec: BanditSpec, given: object, decisions: Sequence[Decision]) -> Floats:
    """Read the rewards of decisions, each as ``learn`` would, or name the row that is none."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("rewards", "a list or an array of numbers", given)
    listed = np.atleast_1d(given).tolist() if isinstance(given, np.ndarray) else list(given)
    rewards = require_length("rewards", listed, len(decisions))
    low, high = spec.reward_range
    if _NUMBERS.issuperset(map(type, rewards)):
        try:
            found = np.array(rewards, np.float64)
        except OverflowError:
            found = np.full(len(rewards), np.nan)
        if ((found >= low) & (found <= high)).all():
            return found
    numbers = list[float]()
    for row, reward in enumerate(rewards):
        try:
            numbers.append(spec.read_reward(reward, decisions[row].id))
        except BounditError as error:
            raise name_row(error, row) from None
    return np.array(numbers, np.float64)

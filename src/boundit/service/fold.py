"""A policy's state as the fold of its events: the same events, the same bits."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any, NamedTuple

import msgspec

from boundit.bandit.base import BatchStatistics
from boundit.bandit.decision import Decision
from boundit.bandit.scores import EXPLORED
from boundit.bandit.spec import PLAIN
from boundit.service.commands import ArmChance
from boundit.service.config import KINDS, AnyPolicy, PolicyConfig, read_bounds
from boundit.service.errors import StoreUnavailable
from boundit.service.events import (
    CLOSED,
    CREATED,
    REFRESHED,
    STATE_KINDS,
    Closed,
    read_closed,
    read_created,
    read_refreshed,
    write_body,
)
from boundit.service.store.store import EventRow, Head, Transaction
from boundit.service.values import VariableNames, decode_level_list
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError

_log = logging.getLogger(__name__)
_AT_ONCE = 2048
"""How many events are read at once."""
_FEW = 4
"""As many rewards are learned one by one: a batch takes longer to begin."""
_MOST_CHANCES = 1024
"""For how many contexts chances are kept."""


class Chances(NamedTuple):
    """The chances of all arms of a call in one context, in the forms that they are needed in.

    ``written`` is what an answer has, ``body`` what an event has.
    """

    by_arm: Mapping[Arm, float]
    written: list[ArmChance]
    body: msgspec.Raw


class Fold:
    """A policy in memory, and the position of the last event that is in it."""

    def __init__(
        self,
        id: int,  # noqa: A002, the number of the policy in its store
        config: PolicyConfig,
        seed: int,
        policy: AnyPolicy,
        position: int,
    ) -> None:
        self.id, self.config, self.seed, self.policy = id, config, seed, policy
        self.position = self.state_position = position
        self.bounds_version = 1
        self.lock = RLock()
        self._note_spec()
        self.n_unlearned = 0
        self.held: dict[int, list[list[Any]]] = {}
        self._chances: dict[tuple[Context, tuple[Arm, ...] | None], Chances] = {}

    @classmethod
    def start(cls, policy: int, event: EventRow) -> "Fold":
        """Make the fold of a policy that was just created, from its first event."""
        created = read_created(event.body)
        config = msgspec.convert(created.config, type=PolicyConfig)
        made = restore_policy(config, json.loads(bytes(created.state)))
        return cls(policy, config, created.seed, made, event.position)

    @property
    def needs_branch(self) -> bool:
        """Whether learning reads how an arm was chosen: OAM counts explorations of its own."""
        return self.config.kind == "OAM"

    def catch_up(self, transaction: Transaction, head: Head) -> None:
        """Fold what others appended since, up to the head."""
        while self.position < head.head:
            if head.state_position <= self.state_position:
                self.position = head.head
                return
            rows = transaction.list_events(self.id, self.position, _AT_ONCE, STATE_KINDS)
            rows = [row for row in rows if row.position <= head.head]
            self.apply(rows)
            if len(rows) < _AT_ONCE:
                self.position = head.head

    def apply(self, rows: Sequence[EventRow]) -> None:
        """Fold events in their order; those that do not change the state count as seen."""
        closings = list[tuple[int, Closed]]()
        for row in rows:
            if row.kind == CLOSED:
                closings.append((row.position, read_closed(row.body)))
                continue
            self.learn(closings)
            closings = []
            if row.kind == REFRESHED:
                self.refresh(row.position, row.body)
            elif row.kind == CREATED:
                raise StoreUnavailable("a policy is created twice in its own events")
            self.position = row.position
        self.learn(closings)

    def learn(self, closings: Sequence[tuple[int, Closed]]) -> None:
        """Learn what decisions came to, in this order; what cannot be learned is counted."""
        if not closings:
            return
        learned = [closed for _, closed in closings if closed.reason is None]
        with self.lock:
            if not self._learn_together(learned):
                self._learn_in_turn(learned)
            self.position = self.state_position = closings[-1][0]
            self._chances.clear()

    def _learn_together(self, closings: Sequence[Closed]) -> bool:
        """Learn many decisions at once; gives whether they were, else nothing has changed."""
        if len(closings) <= _FEW or not isinstance(self.policy.statistics, BatchStatistics):
            return False
        seen = [self._keep_known(closed) for closed in closings]
        try:
            self.policy.learn_many(
                self._make_decisions(closings),
                [_require_reward(closed) for closed in closings],
                observed=seen if any(seen) else None,
            )
        except BounditError:
            return False
        return True

    def _learn_in_turn(self, closings: Sequence[Closed]) -> None:
        """Learn decisions one by one, and count those that cannot be learned."""
        for closed in closings:
            try:
                self._learn_one(closed)
            except BounditError as error:
                self.n_unlearned += 1
                # Its message may have the visitor's context, which logs must not.
                kind, name = type(error).__name__, self.config.name
                _log.warning("a decision of policy %s is not learned: %s", name, kind)

    def _learn_one(self, closed: Closed) -> None:
        """Learn one decision; if what was observed no longer fits, without that."""
        decision, reward = self._make_decision(closed), _require_reward(closed)
        observed = self._keep_known(closed)
        try:
            self.policy.learn(decision, reward, observed=observed)
        except BounditError:
            if observed is None:
                raise
            self.policy.learn(decision, reward)

    def _keep_known(self, closed: Closed) -> dict[str, Any] | None:
        """Keep of what was observed the variables that the policy knows by now."""
        known = self.policy.list_observable()
        if closed.observed is None or not known:
            return closed.observed
        return {name: value for name, value in closed.observed.items() if name in known}

    def _make_decision(self, closed: Closed) -> Decision:
        """Make the decision that a closing teaches; called by ``Fold._learn_one``."""
        arm, context = decode_level_list(closed.arm or ()), decode_level_list(closed.context)
        branch = EXPLORED if closed.other else closed.branch
        return self.policy.adopt(
            context, arm, id=closed.id, branch=branch, passed=closed.passed
        )

    def _make_decisions(self, closings: Sequence[Closed]) -> list[Decision]:
        """Make the decisions that closings teach; those alike are checked once."""
        known, found = dict[object, Decision](), list[Decision]()
        for closed in closings:
            levels = *(closed.arm or ()), *closed.context
            alike = levels, len(closed.context), closed.branch, closed.other, closed.passed
            # Other levels are objects of JSON, which cannot be looked up.
            plain = PLAIN.issuperset(map(type, levels))
            made = known.get(alike) if plain else None
            if made is not None:
                found.append(Decision.of(closed.id, made.arm, made.context, made.reasons))
                continue
            made = self._make_decision(closed)
            if plain:
                known[alike] = made
            found.append(made)
        return found

    def refresh(
        self, position: int, body: str | bytes, table: BoundTable | None = None
    ) -> None:
        """Go by other bounds from here on; ``table`` is what the event has, if it was read."""
        refreshed = read_refreshed(body)
        table = table or read_bounds(json.loads(bytes(refreshed.bounds)))
        arms = None if refreshed.arms is None else map(decode_level_list, refreshed.arms)
        with self.lock:
            try:
                self.policy.refresh(table, arms=arms)
            except BounditError as error:  # it was tried before it was written down
                _log.error("bounds %d do not fit: %s", refreshed.version, error)
            self.bounds_version = refreshed.version
            self.held[refreshed.version] = refreshed.held
            self.position = self.state_position = position
            self._note_spec()
            self._chances.clear()

    def _note_spec(self) -> None:
        """Note what the policy's variables are called, and whether it puts numbers in bins.

        Called when it is made and when its bounds are refreshed.
        """
        self.names, spec = VariableNames(self.policy), self.policy.spec
        self._has_cells = bool(spec.bins) and not self.policy.sees_numbers
        self._find_cell = spec.find_cell

    def find_arms(self, version: int) -> list[list[Any]]:
        """Find the arms held since a version of the bounds; called by ``show_decided``."""
        return self.held[version]

    def find_chances(
        self, context: Context, arms: tuple[Arm, ...] | None, make: Callable[[], Decision]
    ) -> Chances:
        """Find the chances of all arms in a context; they hang on the state alone.

        So they are worked out once for each context, from a decision that ``make`` gives.
        """
        key = (self._find_cell(context) if self._has_cells else context), arms
        found = self._chances.get(key)
        if found is None:
            if len(self._chances) >= _MOST_CHANCES:
                self._chances.clear()
            by_arm = make().propensities or {}
            write = self.names.write_arm
            written = [ArmChance(write(arm), chance) for arm, chance in by_arm.items()]
            body = msgspec.Raw(write_body(list(by_arm.values())))
            found = self._chances[key] = Chances(by_arm, written, body)
        return found

    def copy(self) -> "Fold":
        """Copy the policy at one moment, to be read while this one learns on."""
        with self.lock:
            policy = self.policy.copy_locked()
            made = Fold(self.id, self.config, self.seed, policy, self.position)
            made.state_position, made.bounds_version = self.state_position, self.bounds_version
            return made

    def write_state(self) -> str:
        """Write the policy's state as JSON text: equal states are equal texts."""
        return msgspec.json.encode(self.policy.state(), order="sorted").decode()


def _require_reward(closed: Closed) -> float:
    """Get the reward of a closing; called by ``Fold._learn_one``."""
    if closed.reward is None:
        raise StoreUnavailable("a decision is closed with neither reward nor reason")
    return closed.reward


def restore_policy(config: PolicyConfig, state: Mapping[str, Any]) -> AnyPolicy:
    """Make the policy of a state; called by ``Fold.start`` and ``open_snapshot``."""
    return KINDS[config.kind].from_state(state)

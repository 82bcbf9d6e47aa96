"""A policy's state as the fold of its events: the same events, the same bits."""

import json
import logging
from collections.abc import Mapping, Sequence
from copy import deepcopy
from threading import RLock
from typing import Any

import msgspec

from boundit.bandit.decision import EXPLORED
from boundit.bandit.policy import Policy
from boundit.core.errors import BounditError
from boundit.results.bound_table import BoundTable
from boundit.service.config import KINDS, PolicyConfig, read_bounds
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
)
from boundit.service.store.store import EventRow, Head, Transaction
from boundit.service.values import VariableNames, decode_level_list

_log = logging.getLogger(__name__)
_AT_ONCE = 2048
"""How many events are read at once."""


class Fold:
    """A policy in memory, and the position of the last event that is in it."""

    def __init__(
        self,
        id: int,  # noqa: A002, the number of the policy in its store
        config: PolicyConfig,
        seed: int,
        policy: Policy,
        position: int,
    ) -> None:
        self.id, self.config, self.seed, self.policy = id, config, seed, policy
        self.position = self.state_position = position
        self.bounds_version = 1
        self.lock = RLock()
        self.names = VariableNames(policy)
        self.n_unlearned = 0
        self.held: dict[int, list[list[Any]]] = {}

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
            for closed in learned:
                try:
                    self._learn_one(closed)
                except BounditError as error:
                    self.n_unlearned += 1
                    # Its message may have the visitor's context, which logs must not.
                    kind, name = type(error).__name__, self.config.name
                    _log.warning("a decision of policy %s is not learned: %s", name, kind)
            self.position = self.state_position = closings[-1][0]

    def _learn_one(self, closed: Closed) -> None:
        """Learn one decision; if what was observed no longer fits, without that."""
        reward = closed.reward
        if reward is None:
            raise StoreUnavailable("a decision is closed with neither reward nor reason")
        decision = self.policy.adopt(
            decode_level_list(closed.context),
            decode_level_list(closed.arm or ()),
            id=closed.id,
            branch=EXPLORED if closed.other else closed.branch,
            passed=closed.passed,
        )
        known = self.policy.auxiliary_variables
        seen = (closed.observed or {}).items()
        observed = {name: value for name, value in seen if name in known} or None
        try:
            self.policy.learn(decision, reward, observed=observed)
        except BounditError:
            if observed is None:
                raise
            self.policy.learn(decision, reward)

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
            self.names = VariableNames(self.policy)

    def find_arms(self, version: int) -> list[list[Any]]:
        """Find the arms held since a version of the bounds; called by ``show_decided``."""
        return self.held[version]

    def copy(self) -> "Fold":
        """Copy the policy at one moment, to be read while this one learns on."""
        with self.lock:
            made = Fold(self.id, self.config, self.seed, deepcopy(self.policy), self.position)
            made.state_position, made.bounds_version = self.state_position, self.bounds_version
            return made

    def write_state(self) -> str:
        """Write the policy's state as JSON text: equal states are equal texts."""
        return msgspec.json.encode(self.policy.state(), order="sorted").decode()


def restore_policy(config: PolicyConfig, state: Mapping[str, Any]) -> Policy:
    """Make the policy of a state; called by ``Fold.start`` and ``open_snapshot``."""
    return KINDS[config.kind].from_state(state)

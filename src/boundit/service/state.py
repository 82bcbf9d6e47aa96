"""State projection: rebuilds a policy from its events and snapshots.

Equal events give bit-identical states.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from threading import RLock
from typing import Any

import msgspec
from msgspec import Struct, structs

from boundit import __version__
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
    UPDATED,
    Closed,
    make_reader,
    read_closed,
    read_created,
    read_refreshed,
    read_updated,
)
from boundit.service.store.base import EventRow, Head, SnapshotRow, Transaction
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
        self.is_compiled = False
        self.needs_branch = config.kind == "OAM"
        """Whether learning reads how an arm was chosen: OAM counts explorations of its own."""
        self.held: dict[int, list[list[Any]]] = {}

    @classmethod
    def start(cls, policy: int, event: EventRow) -> "Fold":
        """Make the fold of a policy that was just created, from its first event."""
        created = read_created(event.body)
        config = msgspec.convert(created.config, type=PolicyConfig)
        made = restore_policy(config, json.loads(bytes(created.state)))
        return cls(policy, config, created.seed, made, event.position)

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
            elif row.kind == UPDATED:
                self.update(row.position, read_updated(row.body).changes)
            elif row.kind == CREATED:
                raise StoreUnavailable("a policy is created twice in its own events")
            self.position = row.position
        self.learn(closings)

    def learn(self, closings: Sequence[tuple[int, Closed]]) -> None:
        """Learn what decisions came to, in this order."""
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
        """Find the arms held since a version of the bounds."""
        return self.held[version]

    def update(self, position: int, changes: Mapping[str, float | None]) -> None:
        """Go by other fields of the configuration from here on."""
        with self.lock:
            self.config = structs.replace(self.config, **changes)
            if not changes.keys().isdisjoint({"explore", "monitor"}):
                config = self.config
                self.policy.adjust(explore=config.explore, monitor=config.monitor)
            self.position = self.state_position = position

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
    """Make the policy of a state."""
    return KINDS[config.kind].from_state(state)


KEPT = 2
"""How many snapshots of a policy are kept."""


def make_snapshot(fold: Fold, *, base: bool = False) -> SnapshotRow:
    """Make a snapshot of the state after the last event that changed it."""
    state = fold.write_state()
    return SnapshotRow(
        fold.state_position, int(base), __version__, compute_digest(state), state
    )


def compute_digest(state: str) -> str:
    """Compute the checksum of a state, so that a damaged snapshot shows."""
    return sha256(state.encode()).hexdigest()


def start_from_snapshot(fold: Fold, rows: Sequence[SnapshotRow]) -> Fold:
    """Go on from the newest snapshot that is whole; a damaged one is said and passed over.

    ``fold`` is the policy as it was created.
    """
    for row in sorted(rows, reverse=True):
        made = open_snapshot(fold, row)
        if made is not None:
            return made
    return fold


def open_snapshot(fold: Fold, row: SnapshotRow) -> Fold | None:
    """Make a fold of a snapshot, None if it is damaged or of another release."""
    name = fold.config.name
    if compute_digest(row.state) != row.checksum:
        _log.error("the snapshot of policy %s at %d is damaged", name, row.position)
        return None
    try:
        policy = restore_policy(fold.config, json.loads(row.state))
    except BounditError as error:
        _log.warning("snapshot of policy %s at %d is not used: %s", name, row.position, error)
        return None
    return Fold(fold.id, fold.config, fold.seed, policy, row.position)


def keep_snapshot(transaction: Transaction, policy: int, row: SnapshotRow) -> None:
    """Store a snapshot and drop old ones."""
    transaction.add_snapshot(policy, row)
    old = [one for one in transaction.list_snapshots(policy) if not one.base]
    for one in sorted(old)[:-KEPT]:
        transaction.drop_snapshot(policy, one)


class _Held(Struct):
    """Of an event that says which arms are held: these alone."""

    arms: list[list[object]] | None = None
    held: list[list[object]] | None = None
    version: int = 1


_read_held = make_reader(_Held)


def load_fold(transaction: Transaction, head: Head, *, upto: int | None = None) -> Fold:
    """Make the fold of a policy, up to its head or to a position before it."""
    end = head if upto is None else head._replace(head=upto, state_position=upto)
    fold = start_fold(transaction, end, newest=True)
    fold.catch_up(transaction, end)
    return fold


def start_fold(transaction: Transaction, head: Head, *, newest: bool = False) -> Fold:
    """Make the fold that events are folded into: as pruning left the policy, or as created.

    Or from the ``newest`` snapshot that is whole.
    """
    rare = transaction.list_rare_events(head.id)
    if not rare or rare[0].kind != CREATED:
        raise StoreUnavailable(f"the events of policy {head.name!r} have no beginning")
    created = Fold.start(head.id, rare[0])
    snapshots = [
        row
        for row in transaction.list_snapshots(head.id)
        if row.position <= head.head and (newest or row.base)
    ]
    fold = start_from_snapshot(created, snapshots)
    if fold is created and head.base_position:
        reason = f"the state that pruning left of policy {head.name!r} is damaged"
        raise StoreUnavailable(reason, retry_after=60)
    _note_versions(fold, rare)
    return fold


def _note_versions(fold: Fold, rare: Sequence[EventRow]) -> None:
    """Note what a snapshot does not have: arms of each version of the bounds, updates."""
    for row in rare:
        if row.kind in (CREATED, REFRESHED):
            found = _read_held(row.body)
            fold.held[found.version] = found.held or found.arms or []
            if row.position <= fold.position:
                fold.bounds_version = found.version
        elif row.kind == UPDATED and row.position <= fold.position:
            changes = read_updated(row.body).changes
            fold.config = structs.replace(fold.config, **changes)

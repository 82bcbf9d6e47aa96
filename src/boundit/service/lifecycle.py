"""A policy's life: created, changed, given new bounds, pruned, deleted."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from secrets import randbits
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, structs

from boundit import __version__
from boundit.bandit.policy import Policy
from boundit.bandit.spec import read_arms
from boundit.core.errors import BounditError, shorten
from boundit.results.bound_file import compute_checksum
from boundit.service.changes import Draft, KnownDecision, PolicyChanges, hash_id
from boundit.service.commands import (
    DeleteAnswer,
    PolicyAnswer,
    PruneAnswer,
    RefreshAnswer,
    RefreshBounds,
    UpdatePolicy,
)
from boundit.service.config import (
    PolicyConfig,
    check_config,
    describe_config,
    make_policy,
    read_bounds,
)
from boundit.service.errors import (
    Conflict,
    DecisionPruned,
    NoSuchDecision,
    StoreUnavailable,
    Unprocessable,
)
from boundit.service.events import (
    CLOSED,
    CREATED,
    DECIDED,
    DELETED,
    NOTHING,
    PRUNED,
    REFRESHED,
    UPDATED,
    Created,
    Deleted,
    Pruned,
    Refreshed,
    Updated,
    from_datetime,
    read_closed,
    read_decided,
    to_datetime,
    write_body,
)
from boundit.service.show import show_policy
from boundit.service.state import Fold, load_fold, make_snapshot
from boundit.service.store.base import EventRow, Head, SnapshotRow, Store, Transaction
from boundit.service.values import encode_level_list

AT_ONCE = 250
"""How many events are looked at in one transaction."""
_LONGEST_NAME = 200


class NewPolicy:
    """A policy that was made of a configuration, and is not stored yet.

    Made before the transaction begins, as large tables take a while to read.
    """

    def __init__(self, config: PolicyConfig) -> None:
        self.config = config
        seed = randbits(63) if config.seed is None else config.seed
        policy = make_policy(structs.replace(config, seed=seed))
        _require_names(policy)
        bounds = NOTHING if config.bounds is None else msgspec.Raw(_spell_bounds(config.bounds))
        created = Created(
            describe_config(config),
            seed,
            msgspec.Raw(msgspec.json.encode(policy.state())),
            [encode_level_list(arm) for arm in policy.spec.arms],
            __version__,
            bounds,
        )
        self.body = write_body(created).decode()
        self.fold = Fold.start(0, EventRow(1, 0, CREATED, self.body))
        self.fold.held[1] = created.arms
        digest = None if config.bounds is None else compute_checksum(config.bounds)
        record = {**created.config, "bounds": digest}
        self.compared = msgspec.json.encode(record, order="sorted").decode()
        """What the same request sent again is compared with."""


def _require_names(policy: Policy) -> None:
    """Refuse variables whose names cannot be columns of a log."""
    names, table = policy.spec.context or (), policy.prior.table
    if table is not None:
        names = (*names, *table.treatments, table.outcome)
    for name in names:
        if not (0 < len(name) <= _LONGEST_NAME and name.isprintable()):
            reason = f"a variable's name is 1 to {_LONGEST_NAME} printable characters, found"
            raise Unprocessable(f"{reason} {shorten(repr(name), 60)}", field="$.context")


def create_policy(transaction: Transaction, new: NewPolicy) -> tuple[Head, bool]:
    """Store a new policy, unless one of an equal configuration has the name already.

    Gives its head row, and whether it is new.
    """
    config = new.config
    policy = transaction.add_policy(config.name, config.kind, new.compared, config.retention)
    head = transaction.get_head(config.name)
    if head is None:
        raise StoreUnavailable(f"policy {config.name!r} is being replaced")
    if policy is None:
        if head.deleted_at is not None:
            raise Conflict(
                f"The policy {config.name!r} was deleted, and its name is not given again, so "
                "that no late request meets another policy. Choose another name.",
                code="policy_deleted",
            )
        if transaction.get_config(head.id) != new.compared:
            reason = (
                f"There is a policy {config.name!r} of another configuration already. Choose "
                "another name, or update the policy."
            )
            raise Conflict(reason, code="policy_exists")
        return head, False
    head = head._replace(head=1, state_position=1)
    transaction.save(head, [(policy, 1, transaction.now, CREATED, new.body)], (), (), "", {})
    new.fold.id = policy
    return head, True


class NewBounds:
    """Bounds that were read of a request, and are not those of the policy yet.

    Read before the transaction begins, as large tables take a while.
    """

    def __init__(self, command: RefreshBounds) -> None:
        self.policy, self.arms = command.policy, command.request.arms
        self.table = read_bounds(command.request.bounds)
        self.spelled = msgspec.Raw(_spell_bounds(command.request.bounds))


def refresh_policy(changes: PolicyChanges, new: NewBounds) -> RefreshAnswer:
    """Replace the bounds of a policy, or refuse a table that does not fit it."""
    fold, table = changes.fold, new.table
    if fold.names.outcome not in (None, table.outcome):
        reason = f"the policy's reward is {fold.names.outcome}, that of the bounds"
        raise Unprocessable(f"{reason} {table.outcome}", field="$.bounds")
    trial = fold.copy().policy
    try:
        arms = None if new.arms is None else read_arms(new.arms, table.treatments)
        trial.refresh(table, arms=arms)
    except BounditError as error:
        raise Unprocessable(str(error), field="$.bounds") from None
    version = changes.head.bounds_version + 1
    body = Refreshed(
        version,
        new.spelled,
        [encode_level_list(arm) for arm in trial.spec.arms],
        None if arms is None else [encode_level_list(arm) for arm in arms],
    )
    draft = Draft(changes)
    position = draft.append(REFRESHED, body)
    changes.merge(draft, bounds_version=version, state_position=position)
    written = draft.events[-1][1]
    changes.on_settle = lambda: fold.refresh(position, written, table)
    return RefreshAnswer(version, position)


def update_policy(changes: PolicyChanges, command: UpdatePolicy) -> PolicyAnswer:
    """Change the window, the retention, exploration or monitoring of a policy."""
    fold = changes.fold
    fields = structs.asdict(command.request)
    given = {name: value for name, value in fields.items() if value is not UNSET}
    changed = {
        name: value for name, value in given.items() if getattr(fold.config, name) != value
    }
    if not given:
        raise Unprocessable(f"Give a field to change: {', '.join(fields)}.")
    if (given.get("window", fold.config.window) is None) != (fold.config.window is None):
        reason = "A policy with a window keeps one, and others learn immediately for good."
        raise Unprocessable(f"{reason} Create another policy.", field="$.window")
    config = structs.replace(fold.config, **changed)
    check_config(config)
    try:
        fold.copy().policy.adjust(explore=config.explore, monitor=config.monitor)
    except BounditError as error:
        raise Unprocessable(str(error), field="$") from None
    if not changed:
        return show_policy(fold, changes.head)
    draft = Draft(changes)
    position = draft.append(UPDATED, Updated(changed))
    changes.merge(draft, retention=config.retention, state_position=position)
    changes.on_settle = lambda: fold.update(position, changed)
    shown = fold.copy()
    shown.update(position, changed)
    return show_policy(shown, changes.head)


def _spell_bounds(record: Mapping[str, Any]) -> bytes:
    """Write a table of bounds as JSON, as it came."""
    return json.dumps(record, ensure_ascii=False).encode()


class KeepBase(NamedTuple):
    """Ask the engine to keep the state at a position, so that events before it may go."""

    policy: str
    before: int
    position: int
    base: SnapshotRow


class EraseSome(NamedTuple):
    """Ask the engine to erase some of the decisions that were over at a position."""

    policy: str
    position: int


class EraseOne(NamedTuple):
    """Ask the engine to erase one decision, whose learning a base has by now."""

    policy: str
    id: str


class DeletePolicy(NamedTuple):
    """Ask the engine to delete a policy."""

    policy: str


class Erased(NamedTuple):
    """What was erased; ``done`` if nothing is left."""

    decisions: int
    events: int
    done: bool


def prepare_prune(store: Store, name: str, before: datetime | None) -> KeepBase | None:
    """Work out the state that the events before a moment led to; None if there is nothing.

    Without a moment all events up to now.
    """
    moment = None if before is None else from_datetime(before)
    with store.read() as transaction:
        head = transaction.require_head(name)
        position = head.head
        if moment is not None:
            if moment > transaction.now:
                raise Unprocessable("only what has happened can be pruned", field="$.before")
            # Clocks go back at times: whatever comes after an event that is kept is kept too.
            kept = transaction.find_event_since(head.id, head.pruned_position, moment)
            position = head.head if kept is None else kept - 1
            if position <= max(head.pruned_position, 1):
                return None
        fold = load_fold(transaction, head, upto=position)
        return KeepBase(name, moment or 0, position, make_snapshot(fold, base=True))


def keep_base(changes: PolicyChanges, command: KeepBase) -> bool:
    """Keep the state that erased events led to, and write down that they may be erased."""
    transaction, policy = changes.transaction, changes.fold.id
    head = changes.head
    if head.base_position > command.position and head.pruned_before >= command.before:
        return False
    kept = transaction.list_snapshots(policy)
    if not any(row.base and row.position >= command.base.position for row in kept):
        transaction.add_snapshot(policy, command.base)
        for row in kept:
            if row.position < command.base.position:
                transaction.drop_snapshot(policy, row)
    draft = Draft(changes)
    draft.append(PRUNED, Pruned(command.before, command.position))
    changes.merge(
        draft,
        base_position=max(command.position, head.base_position),
        pruned_before=max(command.before, head.pruned_before),
    )
    return True


def erase_some(changes: PolicyChanges, command: EraseSome) -> Erased:
    """Erase decisions that were closed up to a position, a bounded number at once.

    Also those that have no window and are still open: how long they stay so is not known.
    Their ids stay as hashes.
    """
    transaction, head = changes.transaction, changes.head
    rows = transaction.list_events(head.id, head.pruned_position, AT_ONCE, (CLOSED, DECIDED))
    rows = [row for row in rows if row.position <= command.position]
    n_events, gone = _erase(changes, _find_over(transaction, head.id, rows))
    done = len(rows) < AT_ONCE
    changes.set_head(pruned_position=command.position if done else rows[-1].position)
    return Erased(gone, n_events, done)


def erase_one(changes: PolicyChanges, command: EraseOne) -> PruneAnswer:
    """Erase one decision with all that was reported of it, also if it is open."""
    transaction, head = changes.transaction, changes.head
    found = transaction.find_decisions(head.id, [command.id]).get(command.id)
    if found is None:
        if transaction.find_pruned(head.id, [hash_id(command.id)]):
            raise DecisionPruned(command.id)
        raise NoSuchDecision(command.id)
    if found.closed is not None and found.closed > head.base_position:
        return PruneAnswer(0, 0, 0)
    n_events, n = _erase(changes, {command.id: KnownDecision(*found)})
    return PruneAnswer(n, n_events, found.position)


def _erase(changes: PolicyChanges, gone: Mapping[str, KnownDecision]) -> tuple[int, int]:
    """Erase decisions and their events; gives how many events and decisions."""
    positions = [place for one in gone.values() for place in one.list_positions()]
    hashes = [hash_id(name) for name in gone]
    changes.transaction.erase(changes.fold.id, list(gone), hashes, positions)
    n_open = sum(one.closed is None for one in gone.values())
    changes.set_head(open_decisions=changes.head.open_decisions - n_open)
    return len(positions), len(gone)


def _find_over(
    transaction: Transaction, policy: int, rows: Sequence[EventRow]
) -> dict[str, KnownDecision]:
    """Find the decisions that some events made or closed, and that may be erased."""
    ids = {
        row.position: (read_closed if row.kind == CLOSED else read_decided)(row.body).id
        for row in rows
    }
    known = transaction.find_decisions(policy, list(ids.values()))
    over = dict[str, KnownDecision]()
    for row in rows:
        found = known.get(ids[row.position])
        if found is not None and (
            row.kind == CLOSED or (found.closed is None and found.due is None)
        ):
            over[found.id] = KnownDecision(*found)
    return over


def delete_policy(transaction: Transaction, head: Head) -> DeleteAnswer:
    """Delete a policy; sent again, the answer is the same.

    The name stays taken: a late request for this policy must not meet another. The policy need
    not be loaded, so that one that is damaged can be deleted too.
    """
    if head.deleted_at is None:
        at, position = transaction.now, head.head + 1
        head = head._replace(
            head=position, last_at=at, open_decisions=0, retention=None, deleted_at=at
        )
        body = write_body(Deleted(head.name)).decode()
        transaction.save(head, [(head.id, position, at, DELETED, body)], (), (), "", {})
    assert head.deleted_at is not None
    return DeleteAnswer(head.name, to_datetime(head.deleted_at), head.head)

"""A policy is created, or its bounds are replaced: events of their own."""

import json
from collections.abc import Mapping
from secrets import randbits
from typing import Any

import msgspec
from msgspec import structs

from boundit import __version__
from boundit.bandit.policy import Policy
from boundit.bandit.spec import read_arms
from boundit.core.errors import BounditError, shorten
from boundit.results.bound_file import compute_checksum
from boundit.service.commands import CreatePolicy, RefreshAnswer, RefreshBounds
from boundit.service.config import (
    PolicyConfig,
    describe_config,
    make_policy,
    read_bounds,
)
from boundit.service.errors import PolicyExists, StoreUnavailable, Unprocessable
from boundit.service.events import CREATED, NOTHING, REFRESHED, Created, Refreshed, write_body
from boundit.service.fold import Fold
from boundit.service.store.store import EventRow, Head, Transaction
from boundit.service.values import encode_level_list
from boundit.service.writer.changes import Draft, PolicyChanges

_LONGEST_NAME = 200


class NewPolicy:
    """A policy that was made of a configuration, and is not stored yet.

    Made before the transaction begins, as large tables take a while to read.
    """

    def __init__(self, config: PolicyConfig) -> None:
        self.config = config
        seed = randbits(63) if config.seed is None else config.seed
        self.policy = make_policy(structs.replace(config, seed=seed))
        _require_names(self.policy)
        state = msgspec.json.encode(self.policy.state())
        self.created = Created(
            describe_config(config),
            seed,
            msgspec.Raw(state),
            [encode_level_list(arm) for arm in self.policy.spec.arms],
            __version__,
            NOTHING if config.bounds is None else msgspec.Raw(_spell_bounds(config.bounds)),
        )
        self.body = write_body(self.created).decode()
        self.fold = Fold.start(0, EventRow(1, 0, CREATED, self.body))
        self.fold.held[1] = self.created.arms
        digest = None if config.bounds is None else compute_checksum(config.bounds)
        record = {**self.created.config, "bounds": digest}
        self.compared = msgspec.json.encode(record, order="sorted").decode()
        """What a repeated request is compared with."""


def _require_names(policy: Policy) -> None:
    """Refuse variables whose names cannot be columns of a log."""
    names, table = policy.spec.context or (), policy.prior.table
    if table is not None:
        names = (*names, *table.treatments, table.outcome)
    for name in names:
        if not (0 < len(name) <= _LONGEST_NAME and name.isprintable()):
            reason = f"a variable's name is 1 to {_LONGEST_NAME} printable characters, found"
            raise Unprocessable(f"{reason} {shorten(repr(name), 60)}", where="$.context")


def create_policy(transaction: Transaction, new: NewPolicy) -> tuple[Head, bool]:
    """Store a new policy, unless one of an equal configuration has the name already.

    Gives its head row, and whether it is new.
    """
    name, config = new.config.name, new.compared
    policy = transaction.add_policy(name, config)
    head = transaction.get_head(name)
    if head is None:
        raise StoreUnavailable(f"policy {name!r} is being replaced")
    if policy is None:
        if transaction.get_config(head.id) != config:
            raise PolicyExists(name)
        return head, False
    transaction.add_events([(policy, 1, transaction.now, CREATED, new.body)])
    head = head._replace(head=1, state_position=1)
    transaction.update_head(head)
    new.fold.id = policy
    return head, True


def prepare_policy(command: CreatePolicy) -> NewPolicy:
    """Make the policy of a request, or refuse it; called by ``Engine._prepare``."""
    return NewPolicy(command.config)


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
        raise Unprocessable(f"{reason} {table.outcome}", where="$.bounds")
    trial = fold.copy().policy
    try:
        arms = None if new.arms is None else read_arms(new.arms, table.treatments)
        trial.refresh(table, arms=arms)
    except BounditError as error:
        raise Unprocessable(str(error), where="$.bounds") from None
    version = changes.head.bounds_version + 1
    body = Refreshed(
        version,
        new.spelled,
        [encode_level_list(arm) for arm in trial.spec.arms],
        None if arms is None else [encode_level_list(arm) for arm in arms],
    )
    draft = Draft(changes)
    position = draft.append(REFRESHED, body)
    changes.merge(draft)
    changes.refresh(version, position, draft.events[-1][1], table)
    return RefreshAnswer(version, position)


def _spell_bounds(record: Mapping[str, Any]) -> bytes:
    """Write a table of bounds as JSON, as it came."""
    return json.dumps(record, ensure_ascii=False).encode()

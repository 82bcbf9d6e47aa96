"""One transaction for all that waits: commands in, answers out, after the commit."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeAlias

from boundit.service.changes import Draft, PolicyChanges
from boundit.service.commands import (
    CloseWindows,
    Decide,
    GiveRewards,
    NoteRefutation,
    UpdatePolicy,
    is_id,
)
from boundit.service.decide import decide_group, explain_error
from boundit.service.errors import NoSuchPolicy, PolicyDeleted, ServiceError
from boundit.service.events import REFUTED, Refuted
from boundit.service.kinds import require_compiled
from boundit.service.lifecycle import (
    DeletePolicy,
    EraseOne,
    EraseSome,
    KeepBase,
    NewBounds,
    NewPolicy,
    create_policy,
    delete_policy,
    erase_one,
    erase_some,
    keep_base,
    refresh_policy,
    update_policy,
)
from boundit.service.reward import close_due, take_rewards
from boundit.service.show import show_policy
from boundit.service.state import Fold, load_fold
from boundit.service.store.base import Head, Store, Transaction

_log = logging.getLogger(__name__)
Answer: TypeAlias = Any
"""What a command is answered, or the ``ServiceError`` that it is refused with."""
_VISITS: Final = (Decide, GiveRewards)
OwnCommand: TypeAlias = (
    Decide
    | GiveRewards
    | CloseWindows
    | NoteRefutation
    | UpdatePolicy
    | NewBounds
    | KeepBase
    | EraseSome
    | EraseOne
    | DeletePolicy
)
Prepared: TypeAlias = OwnCommand | NewPolicy


class _Loading(Exception):
    """A policy that is being read into memory by another thread."""


class GroupWriter:
    """Turns groups of commands into transactions, and keeps the folds of policies.

    A policy that has to be read, or whose bounds somebody else replaced, is read ``apart`` by
    a thread of its own, and its commands wait: others are written meanwhile.
    """

    def __init__(self, store: Store, *, apart: bool = False) -> None:
        self._store, self._apart = store, apart
        self._reader = ThreadPoolExecutor(4, "boundit reads policies")
        self._loading: dict[str, Future[Fold]] = {}
        self.folds: dict[str, Fold] = {}
        self.refuted: set[str] = set()
        self.locked: set[str] = set()
        """The policies of the last group that another process was writing to, or that are read."""
        self.unsettled: dict[str, PolicyChanges] = {}

    def process(self, commands: Sequence[Prepared]) -> list[Answer]:
        """Process commands in one transaction; gives an answer, an error, or None for each.

        None means that it has to wait for the next group. Raises ``StoreUnavailable`` if
        nothing was committed, or it is not known. What was committed is folded into memory by
        ``settle``, before the next group at the latest, so that no caller waits for that.
        """
        if self.unsettled:
            self.settle()
        self.locked = set()
        answers: dict[int, Answer] = {}
        opened: dict[str, PolicyChanges] = {}
        created: dict[str, Fold] = {}
        by_policy: dict[str, dict[int, OwnCommand]] = {}
        with self._store.write() as transaction:
            for i, command in enumerate(commands):
                if isinstance(command, NewPolicy):
                    answers[i] = self._create(transaction, command, created)
                else:
                    by_policy.setdefault(command.policy, {})[i] = command
            expected = self._expect(by_policy) if transaction.waits else {}
            heads = transaction.lock_heads(list(by_policy), expected) if by_policy else {}
            if len(heads) < len(by_policy):
                self.locked = transaction.find_locked(by_policy.keys() - heads.keys())
            for name, mine in by_policy.items():
                head = heads.get(name)
                if name in self.locked:
                    answers.update(dict.fromkeys(mine))
                    continue
                try:
                    if head is None:
                        raise NoSuchPolicy(name)
                    fold = created.get(name) or self.folds.get(name)
                    changes, found = self._process(transaction, head, fold, mine)
                    answers.update(found)
                    if changes is not None:
                        opened[name] = changes
                except _Loading:
                    self.locked.add(name)
                    answers.update(dict.fromkeys(mine))
                except ServiceError as error:
                    if isinstance(error, NoSuchPolicy | PolicyDeleted):
                        self.folds.pop(name, None)
                    answers.update(dict.fromkeys(mine, error))
            for changes in opened.values():
                changes.write()
        self.folds |= created
        for name, changes in opened.items():
            if changes.closings or changes.on_settle is not None:  # it may take a while
                self.unsettled[name] = changes
            else:
                changes.fold.position = changes.head.head
        return [answers[i] for i in range(len(commands))]

    def _expect(
        self, by_policy: Mapping[str, Mapping[int, OwnCommand]]
    ) -> dict[int, list[str]]:
        """List the ids that will be looked up of policies in memory, by policy."""
        found: dict[int, list[str]] = {}
        for name, commands in by_policy.items():
            fold = self.folds.get(name)
            ids = _list_ids(commands.values()) if fold is not None else []
            if fold is not None and ids:
                found[fold.id] = list(dict.fromkeys(ids))
        return found

    def settle(self) -> None:
        """Fold into memory what the last group committed.

        What teaches nothing, such as decisions alone, is settled with its commit.
        """
        unsettled, self.unsettled = self.unsettled, {}
        for name, changes in unsettled.items():
            self._settle(name, changes)

    def _create(
        self, transaction: Transaction, new: NewPolicy, created: dict[str, Fold]
    ) -> Answer:
        try:
            head, is_new = create_policy(transaction, new)
            fold = new.fold
            if not is_new:
                fold = self._catch_up(transaction, head, self.folds.get(head.name), apart=False)
        except ServiceError as error:
            return error
        created[head.name] = fold
        return show_policy(fold, head)

    def _process(
        self,
        transaction: Transaction,
        head: Head,
        fold: Fold | None,
        commands: Mapping[int, OwnCommand],
    ) -> tuple[PolicyChanges | None, dict[int, Answer]]:
        """Process the commands of one policy: decisions first, then what changes its state.

        So every decision of a group sees the state before it. What changes more than that
        comes alone, and the rest waits.
        """
        found: dict[int, Answer] = {}
        alone = next((i for i, one in commands.items() if type(one) in _ALONE), None)
        if alone is not None:
            found.update(dict.fromkeys(commands))
            if isinstance(commands[alone], DeletePolicy):
                return None, found | {alone: delete_policy(transaction, head)}
        if head.deleted_at is not None:
            raise PolicyDeleted(head.name)
        is_here = fold is not None and fold.is_compiled
        if fold is None or not is_here or (fold.id, fold.position) != (head.id, head.head):
            fold = self._catch_up(transaction, head, fold, apart=self._apart)
        changes = PolicyChanges(transaction, head, fold)
        if alone is not None:
            work = _ALONE[type(commands[alone])]
            found[alone] = _attempt(work, changes, commands[alone])
            return changes, found
        changes.look_up(_list_ids(commands.values()))
        decides = {i: one for i, one in commands.items() if isinstance(one, Decide)}
        if decides:
            made = decide_group(changes, list(decides.values()))
            found.update(zip(decides, made, strict=True))
        for i, command in commands.items() if len(decides) < len(commands) else ():
            match command:
                case GiveRewards():
                    found[i] = _attempt(take_rewards, changes, command)
                case CloseWindows():
                    found[i] = close_due(changes)
                case NoteRefutation():
                    found[i] = note_refutation(changes)
                case _:
                    pass
        return changes, found

    def _catch_up(
        self, transaction: Transaction, head: Head, fold: Fold | None, *, apart: bool
    ) -> Fold:
        """Bring a policy up to its head, which is locked, or read it anew."""
        if fold is None or not _is_near(fold, head, apart=apart):
            require_compiled(head.kind)
            fold = self._load_apart(head) if apart else load_fold(transaction, head)
            self.folds[head.name] = fold
            if fold.policy.refutation and head.refuted_version < fold.bounds_version:
                self.refuted.add(head.name)
        if not fold.is_compiled:
            require_compiled(head.kind)
            fold.is_compiled = True
        if fold.position < head.head:
            fold.catch_up(transaction, head)
        return fold

    def _load_apart(self, head: Head) -> Fold:
        found = self._loading.pop(head.name, None)
        if found is not None and found.done():
            try:
                fold = found.result()
            except Exception as error:  # noqa: BLE001, whatever it is, others go on
                raise explain_error(error) from None
            if _is_near(fold, head, apart=True):
                return fold
            found = None
        self._loading[head.name] = found or self._reader.submit(self._read, head.name)
        raise _Loading

    def _read(self, name: str) -> Fold:
        with self._store.read() as transaction:
            return load_fold(transaction, transaction.require_head(name))

    def _settle(self, name: str, changes: PolicyChanges) -> None:
        """Fold into memory what was committed; a fold that fails is read anew."""
        try:
            changes.settle()
        except Exception:  # noqa: BLE001, whatever it is: the store has the truth
            _log.exception("policy %s is read again from the store", name)
            self.folds.pop(name, None)
            return
        fold = changes.fold
        if fold.policy.refutation and changes.head.refuted_version < fold.bounds_version:
            self.refuted.add(name)


def _is_near(fold: Fold, head: Head, *, apart: bool) -> bool:
    """Return True if a fold can go on to the head: not if events were erased that it lacks.

    Nor, where it could be read ``apart``, if it had to read other bounds.
    """
    if fold.position < head.base_position and fold.state_position < head.state_position:
        return False
    return fold.id == head.id and not (apart and fold.bounds_version < head.bounds_version)


_ALONE: Mapping[type, Callable[[Any, Any], Answer]] = {
    NewBounds: refresh_policy,
    UpdatePolicy: update_policy,
    KeepBase: keep_base,
    EraseSome: erase_some,
    EraseOne: erase_one,
    DeletePolicy: delete_policy,
}


def _attempt(
    work: Callable[[PolicyChanges, Any], Answer], changes: PolicyChanges, command: Any
) -> Answer:
    """Run a command; gives its answer or its error."""
    try:
        return work(changes, command)
    except Exception as error:  # noqa: BLE001, one command must not fail the others
        return explain_error(error)


def _list_ids(commands: Iterable[OwnCommand]) -> list[str]:
    """List the ids that callers gave."""
    return [
        request.id
        for command in commands
        if isinstance(command, _VISITS)
        for request in command.requests
        if request.id is not None and is_id(request.id)
    ]


def note_refutation(changes: PolicyChanges) -> bool:
    """Write down that rewards contradicted the bounds, once for each version of them."""
    fold, head = changes.fold, changes.head
    refutation = fold.policy.refutation
    if refutation is None or head.refuted_version >= fold.bounds_version:
        return False
    draft = Draft(changes)
    draft.append(REFUTED, Refuted(fold.bounds_version, str(refutation)))
    changes.merge(draft, refuted_version=fold.bounds_version)
    return True

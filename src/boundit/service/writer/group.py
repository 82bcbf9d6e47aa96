"""One transaction for all that waits: commands in, answers out, after the commit."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from boundit.service.commands import (
    CloseWindows,
    Decide,
    GiveRewards,
    NoteRefutation,
    PolicyCommand,
    RefreshBounds,
)
from boundit.service.describe import show_policy
from boundit.service.errors import NoSuchPolicy, ServiceError, TakesLong
from boundit.service.events import REFUTED, Refuted
from boundit.service.fold import Fold
from boundit.service.kinds import NotCompiled, compile_kinds, read_kind, require_compiled
from boundit.service.load import load_fold
from boundit.service.store.store import Head, Store, Transaction
from boundit.service.writer.changes import Draft, PolicyChanges
from boundit.service.writer.close import close_due
from boundit.service.writer.create import NewPolicy, create_policy, refresh_policy
from boundit.service.writer.decide import decide_group, explain_error, is_id
from boundit.service.writer.prune import EraseSome, KeepBase, erase_some, keep_base
from boundit.service.writer.reward import take_rewards

_log = logging.getLogger(__name__)
_AT_HAND = 1000
"""So many events of others are folded in a hurry."""
Answer: TypeAlias = Any
"""What a command is answered, or the ``ServiceError`` that it is refused with."""
_VISITS: Final = (Decide, GiveRewards)
OwnCommand: TypeAlias = PolicyCommand | KeepBase | EraseSome
Prepared: TypeAlias = OwnCommand | NewPolicy


class GroupWriter:
    """Turns groups of commands into transactions, and keeps the folds of policies.

    Used by one thread at a time.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.folds: dict[str, Fold] = {}
        self.refuted: set[str] = set()
        self._unsettled: dict[str, PolicyChanges] = {}

    def process(self, commands: Sequence[Prepared], *, hurry: bool = False) -> list[Answer]:
        """Process commands in one transaction; gives an answer, an error, or None for each.

        None means that it has to wait for the next group. Raises ``StoreUnavailable`` if
        nothing was committed, or nobody knows; what is in memory is then as it was. What was
        committed is folded into memory by ``settle``, before the next group at the latest, so
        that nobody need wait for that. In a ``hurry`` it raises ``TakesLong``, before anything
        was changed, where a policy has to be read or compiled, or others waited for. Called by
        ``Engine``.
        """
        self.settle()
        while True:
            try:
                return self._commit(commands, hurry=hurry)
            except NotCompiled as found:  # nothing was written yet
                if hurry:
                    raise TakesLong from None
                compile_kinds([found.kind])

    def _commit(self, commands: Sequence[Prepared], *, hurry: bool) -> list[Answer]:
        """Do what ``process`` says, unless a kind of policy has to be compiled before.

        Called by ``GroupWriter.process``.
        """
        answers: dict[int, Answer] = {}
        opened: dict[str, PolicyChanges] = {}
        created: dict[str, Fold] = {}
        by_policy: dict[str, dict[int, OwnCommand]] = {}
        with self._store.write(hurry=hurry) as transaction:
            for i, command in enumerate(commands):
                if isinstance(command, NewPolicy):
                    answers[i] = _create(transaction, command, created)
                else:
                    by_policy.setdefault(command.policy, {})[i] = command
            expected = self._expect(by_policy) if transaction.waits else {}
            heads = transaction.lock_heads(list(by_policy), expected) if by_policy else {}
            for name, mine in by_policy.items():
                try:
                    if hurry:
                        self._require_at_hand(name, heads.get(name))
                    opened[name] = self._open(transaction, name, heads, created)
                    answers.update(_process(opened[name], mine))
                except ServiceError as error:
                    answers.update(dict.fromkeys(mine, error))
            with transaction.gather():
                for changes in opened.values():
                    changes.write()
        self.folds |= created
        self._note_committed(opened)
        return [answers[i] for i in range(len(commands))]

    def _expect(
        self, by_policy: Mapping[str, Mapping[int, OwnCommand]]
    ) -> dict[int, list[str]]:
        """List the ids that will be looked up of policies in memory, by policy.

        Called by ``GroupWriter._commit``.
        """
        found: dict[int, list[str]] = {}
        for name, commands in by_policy.items():
            fold = self.folds.get(name)
            ids = _list_ids(commands.values()) if fold is not None else []
            if fold is not None and ids:
                found[fold.id] = list(dict.fromkeys(ids))
        return found

    @property
    def is_behind(self) -> bool:
        """Whether there is something to ``settle``; read by ``Engine._write_here``."""
        return bool(self._unsettled or self.refuted)

    def _note_committed(self, opened: Mapping[str, PolicyChanges]) -> None:
        """Settle what teaches nothing, and leave the rest to ``settle``.

        Called by ``GroupWriter._commit``.
        """
        for name, changes in opened.items():
            if changes.teaches:
                self._unsettled[name] = changes
            else:
                self._settle(name, changes)

    def settle(self) -> None:
        """Fold into memory what the last group committed; called by ``Engine``.

        What teaches nothing, such as decisions alone, is settled with its commit.
        """
        unsettled, self._unsettled = self._unsettled, {}
        for name, changes in unsettled.items():
            self._settle(name, changes)

    def _open(
        self,
        transaction: Transaction,
        name: str,
        heads: Mapping[str, Head],
        created: Mapping[str, Fold],
    ) -> PolicyChanges:
        """Bring a policy's fold up to its head, which is locked, and open a changes on it.

        One that this group created counts from the commit on. Called by
        ``GroupWriter._commit``.
        """
        head = heads.get(name)
        if head is None:
            self.folds.pop(name, None)
            raise NoSuchPolicy(name)
        fold = created.get(name) or self.folds.get(name)
        if fold is None or fold.id != head.id or _has_missed(fold, head):
            require_compiled(read_kind(transaction, head))
            fold = self.folds[name] = load_fold(transaction, head)
        require_compiled(fold.config.kind)
        fold.catch_up(transaction, head)
        return PolicyChanges(transaction, head, fold)

    def _require_at_hand(self, name: str, head: Head | None) -> None:
        """Raise ``TakesLong`` for a policy that is not in memory, or far behind its head.

        Called by ``GroupWriter._commit`` in a hurry.
        """
        fold = self.folds.get(name)
        if fold is None or head is None or head.head - fold.position > _AT_HAND:
            raise TakesLong

    def _settle(self, name: str, changes: PolicyChanges) -> None:
        """Fold into memory what was committed; a fold that fails is read anew.

        Called by ``GroupWriter.settle`` and ``GroupWriter._note_committed``.
        """
        try:
            changes.settle()
        except Exception:  # noqa: BLE001, whatever it is: the store has the truth
            _log.exception("policy %s is read again from the store", name)
            self.folds.pop(name, None)
            return
        fold = changes.fold
        if fold.policy.refutation and changes.head.refuted_version < fold.bounds_version:
            self.refuted.add(name)


def _create(transaction: Transaction, new: NewPolicy, created: dict[str, Fold]) -> Answer:
    """Create a policy and note its fold, or give its error.

    Called by ``GroupWriter._commit``.
    """
    try:
        head = create_policy(transaction, new)
        fold = created[head.name] = load_fold(transaction, head)
        return show_policy(fold, head)
    except ServiceError as error:
        return error


def _has_missed(fold: Fold, head: Head) -> bool:
    """Tell whether events were erased that a fold has not seen, so that it must start anew.

    Called by ``GroupWriter._open``.
    """
    return fold.position < head.pruned_position and fold.state_position < head.state_position


def _process(changes: PolicyChanges, commands: Mapping[int, OwnCommand]) -> dict[int, Answer]:
    """Process the commands of one policy: decisions first, then what changes its state.

    So every decision of a group sees the state before it. What changes more than that comes
    alone, and the rest waits. Called by ``GroupWriter._commit``.
    """
    for i, command in commands.items():
        alone = _ALONE.get(type(command))
        if alone is not None:
            answers: dict[int, Answer] = dict.fromkeys(commands)
            answers[i] = alone(changes, command)
            return answers
    changes.look_up(_list_ids(commands.values()))
    decides = {i: one for i, one in commands.items() if isinstance(one, Decide)}
    found: dict[int, Answer] = {}
    if decides:
        found.update(zip(decides, decide_group(changes, list(decides.values())), strict=True))
    if len(decides) < len(commands):
        for i, command in commands.items():
            match command:
                case GiveRewards():
                    found[i] = _attempt(take_rewards, changes, command)
                case CloseWindows():
                    found[i] = close_due(changes)
                case NoteRefutation():
                    found[i] = note_refutation(changes)
                case _:
                    pass
    return found


def _refresh(changes: PolicyChanges, command: Any) -> Answer:
    """Replace the bounds, or give the error; what ``_ALONE`` has for it."""
    return _attempt(refresh_policy, changes, command)


_ALONE: Mapping[type, Callable[[PolicyChanges, Any], Answer]] = {
    RefreshBounds: _refresh,
    KeepBase: keep_base,
    EraseSome: erase_some,
}


def _attempt(
    work: Callable[[PolicyChanges, Any], Answer], changes: PolicyChanges, command: Any
) -> Answer:
    """Run a command; gives its answer or its error. Called by ``_process``."""
    try:
        return work(changes, command)
    except Exception as error:  # noqa: BLE001, one command must not fail the others
        return explain_error(error)


def _list_ids(commands: Iterable[OwnCommand]) -> list[str]:
    """List the ids that callers gave; called by ``_process``."""
    return [
        request.id
        for command in commands
        if isinstance(command, _VISITS)
        for request in command.requests
        if request.id is not None and is_id(request.id)
    ]


def note_refutation(changes: PolicyChanges) -> bool:
    """Write down that rewards contradicted the bounds, once for each version of them.

    Called by ``_process``.
    """
    fold, head = changes.fold, changes.head
    refutation = fold.policy.refutation
    if refutation is None or head.refuted_version >= fold.bounds_version:
        return False
    draft = Draft(changes)
    draft.append(REFUTED, Refuted(fold.bounds_version, str(refutation)))
    changes.merge(draft)
    changes.refute(fold.bounds_version)
    return True

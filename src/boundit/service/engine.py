"""The service without HTTP: one writer thread, groups of commands, answers after the commit."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Any, overload

from prometheus_client import CollectorRegistry, Counter, Gauge

from boundit.service.changes import hash_id
from boundit.service.commands import (
    CloseWindows,
    Command,
    CreatePolicy,
    DailyCount,
    Decide,
    DecideBatchAnswer,
    DecisionView,
    DeleteAnswer,
    EffectTable,
    EventView,
    GiveRewards,
    NoteRefutation,
    PolicyAnswer,
    PropensityTable,
    PruneAnswer,
    RefreshAnswer,
    RefreshBounds,
    RewardBatchAnswer,
    UpdatePolicy,
    count_rows,
    is_id,
)
from boundit.service.config import NAME, require_name
from boundit.service.errors import (
    Compiling,
    DecisionPruned,
    FailedCommand,
    NoSuchDecision,
    NoSuchPolicy,
    ServiceError,
    Unavailable,
    refuse_locked,
)
from boundit.service.export import export_log
from boundit.service.group import Answer, GroupWriter, OwnCommand, Prepared
from boundit.service.kinds import compile_kind
from boundit.service.lifecycle import (
    DeletePolicy,
    Erased,
    EraseOne,
    EraseSome,
    NewBounds,
    NewPolicy,
    prepare_prune,
)
from boundit.service.maintenance import EVERY, Retention, Upkeep
from boundit.service.reward import AT_ONCE
from boundit.service.show import (
    find_bounds,
    show_daily_counts,
    show_decision,
    show_effects,
    show_events,
    show_policy,
    tabulate_propensities,
)
from boundit.service.state import Fold
from boundit.service.store.base import Store
from boundit.service.verify import KeptState, ReplayReport, replay_policy
from boundit.service.waiting import CommandQueue, Waiting, deliver

_log = logging.getLogger(__name__)
QUEUE = 20_000
"""How many rows may wait to be written."""
TICK = 1.0
"""How often, in seconds, windows are looked after."""
DEADLINE = 5.0
"""For how many seconds a command waits for another process that writes to its policy."""
OVERDUE = 60.0
"""How many seconds a window may be overdue before the service is not ready any more."""
_CLOSED_AT_ONCE = 16
"""The windows of so many policies are closed in one transaction."""


class Engine:
    """Policies that are kept in a store: decide, reward, refresh, and read what there is.

    ``submit`` takes a command and gives a future, ``run`` waits for its answer, ``ask`` is for
    event loops. An answer means that it is on disk. Everything may be called from any thread.

    A policy of a kind that this process has not compiled is waited for in the thread that calls
    ``run`` or looks; if the engine is not ``patient``, and in ``ask``, it is ``Compiling``.

    One thread writes, one group after the other. If the engine is not ``patient``, policies are
    read into memory by another, and those who ask for one wait no longer than a few seconds.

    >>> from tempfile import TemporaryDirectory
    >>> from boundit.service.commands import DecideRequest, RewardRequest
    >>> from boundit.service.config import PolicyConfig
    >>> from boundit.service.store.sqlite import SqliteStore
    >>> config = PolicyConfig(name="ads", kind="TS", arms=["A", "B"], seed=1)
    >>> with TemporaryDirectory() as folder, Engine(SqliteStore(folder)) as engine:
    ...     made = engine.run(CreatePolicy(config))
    ...     found = engine.run(Decide("ads", [DecideRequest(id="visitor 1")]))
    ...     outcome = engine.run(GiveRewards("ads", [RewardRequest("visitor 1", 1.0)]))
    ...     print(found.decisions[0].arm, outcome.rewards[0].status)
    ['B'] learned
    """

    def __init__(
        self,
        store: Store,
        *,
        queue: int = QUEUE,
        tick: float = TICK,
        erase_every: float = EVERY,
        patient: bool = True,
    ) -> None:
        self.store, self._tick, self.patient = store, tick, patient
        self.registry = CollectorRegistry()
        self._groups = self._count("groups", "Groups of commands, each a transaction.")
        self._rows = self._count("written_rows", "Rows that were written.")
        self._refused = self._count("refused_commands", "Commands that were refused.")
        self._failures = self._count("store_failures", "Groups that the store did not take.")
        self._bugs = self._count("bugs", "Groups that failed by a bug of ours.")
        waiting = Gauge(
            "boundit_waiting_rows", "Rows that wait to be written.", registry=self.registry
        )
        waiting.set_function(lambda: self._queue.n_rows)
        self._queue, self._writer = CommandQueue(queue), GroupWriter(store, apart=not patient)
        self._upkeep = Upkeep(store, self._writer)
        self._retention = Retention(store, self.prune, erase_every)
        self._problem: str | None = None
        self._due: Sequence[CloseWindows] = ()
        self._looked = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="boundit writer", daemon=True)

    def _count(self, name: str, says: str) -> Counter:
        return Counter(f"boundit_{name}", says, registry=self.registry)

    def start(self) -> None:
        """Start the writer."""
        self._queue.open()
        self._thread.start()
        self._retention.start()

    def stop(self) -> None:
        """Refuse what is new, write what waits, and close the store."""
        self._queue.close()
        if self._thread.is_alive():
            self._thread.join()
        self._retention.stop()
        self.store.close()

    def __enter__(self) -> "Engine":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def n_waiting(self) -> int:
        """How many rows wait to be written."""
        return self._queue.n_rows

    @property
    def problem(self) -> str | None:
        """Why nothing can be written now, None if it can."""
        return self._problem if self._thread.is_alive() else "the writer does not run"

    def require_ready(self) -> None:
        """Raise ``Unavailable`` unless the store can be read and written, and windows close.

        It reads one row, and takes no turn of the writer's. A policy that cannot be written to
        for reasons of its own, such as a row that is locked, keeps no other from being served.
        """
        with self.store.read() as transaction:
            transaction.require_tables()
        if self.problem is not None:
            raise Unavailable(self.problem)
        since = time.monotonic() - self._looked
        overdue = self._upkeep.overdue + (since if self._upkeep.overdue else 0.0)
        if overdue > OVERDUE or since > OVERDUE + self._tick:
            seconds = round(max(overdue, since))
            raise Unavailable(f"windows have not been closed for {seconds:,} seconds")

    def submit(self, command: Command) -> "Future[Any]":
        """Hand a command to the writer; the future has the answer once it is on disk.

        Raises ``Unavailable`` at once where the queue is full, and ``Unprocessable`` where a
        configuration makes no policy.
        """
        return self._put(_prepare(command), count_rows(command))

    def _put(self, command: Prepared, rows: int) -> "Future[Any]":
        future, until = Future[Any](), time.monotonic() + DEADLINE
        self._queue.put(Waiting(command, rows, future, deadline=until))
        return future

    @overload
    def run(self, command: CreatePolicy) -> PolicyAnswer: ...
    @overload
    def run(self, command: Decide) -> DecideBatchAnswer: ...
    @overload
    def run(self, command: GiveRewards) -> RewardBatchAnswer: ...
    @overload
    def run(self, command: RefreshBounds) -> RefreshAnswer: ...
    @overload
    def run(self, command: UpdatePolicy) -> PolicyAnswer: ...
    @overload
    def run(self, command: CloseWindows | NoteRefutation) -> int: ...
    def run(self, command: Command) -> Any:
        """Run a command and wait for its answer, or raise its ``ServiceError``."""
        prepared = _prepare(command)
        if isinstance(command, CreatePolicy):
            compile_kind(command.config.kind).result()
        return self._wait(prepared, count_rows(command))

    def _wait(self, command: Prepared, rows: int = 1) -> Any:
        """Have a command written and wait for its answer, in the caller's thread.

        Where the engine is ``patient``, also until its kind of policy is compiled.
        """
        while True:
            try:
                return self._put(command, rows).result()
            except Compiling as error:
                if not self.patient:
                    raise
                compile_kind(error.kind).result()

    async def ask(self, command: Command) -> Any:
        """Run a command from an event loop, and wait for its answer; else as ``run``.

        Answers of one group come to the loop in one call.
        """
        loop, until = asyncio.get_running_loop(), time.monotonic() + DEADLINE
        prepared: Prepared
        if isinstance(command, Decide | GiveRewards | CloseWindows):
            if not NAME.fullmatch(command.policy):
                raise NoSuchPolicy(command.policy)
            prepared = command
        else:
            prepared = await asyncio.to_thread(_prepare, command)
            if isinstance(command, CreatePolicy):
                # Once the policy is answered for, its callers may come.
                await asyncio.shield(asyncio.wrap_future(compile_kind(command.config.kind)))
            until = time.monotonic() + DEADLINE
        future = loop.create_future()
        self._queue.put(Waiting(prepared, count_rows(command), future, loop, until))
        return await future

    def _work(self) -> None:
        """Write groups until the engine stops."""
        ticked = time.monotonic()
        while (group := self._queue.take(ticked + self._tick - time.monotonic())) is not None:
            if group:
                self._write(group)
            if time.monotonic() >= ticked + self._tick and not self._look_after():
                ticked = time.monotonic()
            if self._writer.refuted:
                self._note_refutations()
        self._writer.settle()
        self._upkeep.keep_snapshots(1)

    def _note_refutations(self) -> None:
        """Write down which policies' bounds were refuted."""
        refuted, self._writer.refuted = self._writer.refuted, set()
        self._write_own([NoteRefutation(name) for name in sorted(refuted)])
        self._writer.refuted |= refuted & self._writer.locked

    def _look_after(self) -> bool:
        """Close windows that are due and keep snapshots; gives whether more are due.

        Some at a time, so that visitors are answered in between.
        """
        try:
            if not self._due:
                self._writer.settle()
                self._upkeep.keep_snapshots()
                self._try_again()
                self._due = self._upkeep.list_closings()
                self._looked = time.monotonic()
            more = self._upkeep.erase_deleted()
            now, self._due = self._due[:_CLOSED_AT_ONCE], self._due[_CLOSED_AT_ONCE:]
            found = self._write_own(now)
            self._note_stuck(now, found)
        except Exception:  # noqa: BLE001, the writer must live on
            _log.exception("windows are not looked after")
            return False
        return more or bool(self._due) or AT_ONCE in found

    def _note_stuck(self, closings: Sequence[CloseWindows], found: Sequence[Answer]) -> None:
        for one, answer in zip(closings, found, strict=True):
            apart = answer is None or isinstance(answer, Unavailable)
            if apart and self._problem is None:
                self._upkeep.stuck.add(one.policy)
            else:
                self._upkeep.stuck.discard(one.policy)

    def _write_own(self, commands: Sequence[OwnCommand]) -> Sequence[Answer]:
        """Write commands of the engine's own, and give their answers."""
        if not commands:
            return []
        answers = self._process(commands)
        self._writer.settle()
        return answers

    def _try_again(self) -> None:
        """Find out whether a problem has gone, also where no request comes any more."""
        if self._problem is None:
            return
        try:
            with self.store.write() as transaction:
                transaction.touch()
        except ServiceError as error:
            self._problem = getattr(error, "reason", str(error))
        else:
            self._problem = None

    def _write(self, group: list[Waiting]) -> None:
        """Write a group and answer it: decisions and rewards before the policy learns."""
        answers = self._process([one.command for one in group])
        again: list[Waiting] = []
        early: list[tuple[Waiting, Answer]] = []
        late: list[tuple[Waiting, Answer]] = []
        n_rows = n_refused = 0
        for one, answer in zip(group, answers, strict=True):
            if answer is None:
                again.append(one)
                continue
            is_early = one.loop is not None and isinstance(one.command, Decide | GiveRewards)
            (early if is_early else late).append((one, answer))
            n_rows += one.rows
            n_refused += isinstance(answer, ServiceError)
        if again or self._writer.locked or self._queue.held:
            over = self._queue.put_back(again, self._writer.locked)
            late += [(one, refuse_locked()) for one in over]
        if early:
            deliver(early)
        if self._writer.unsettled:
            self._writer.settle()
        if late:
            deliver(late)
        self._groups.inc()
        self._rows.inc(n_rows)
        self._refused.inc(n_refused)

    def _process(self, commands: Sequence[Prepared]) -> Sequence[Answer]:
        """Process commands in one transaction; if that fails, all have the error."""
        try:
            answers = self._writer.process(commands)
        except ServiceError as error:
            self._failures.inc()
            self._problem = getattr(error, "reason", str(error))
            return [error] * len(commands)
        except Exception as error:  # noqa: BLE001, the writer must live on
            _log.exception("a group failed")
            self._bugs.inc()
            return [FailedCommand(error)] * len(commands)
        # Closing writes nothing where nothing is due: a disk that is full lets it pass.
        if self._problem is not None and not all(
            isinstance(command, CloseWindows) for command in commands
        ):
            self._problem = None
        return answers

    def _get_fold(self, name: str) -> Fold:
        """Get a policy as it is now, with what other processes wrote."""
        self.run(CloseWindows(name))
        return self._writer.folds[name]

    def list_policies(self) -> list[PolicyAnswer]:
        """List all policies by name.

        Those in memory as they are, so that it takes no turn of the writer's for each.
        """
        with self.store.read() as transaction:
            heads = transaction.list_heads()
        found = list[PolicyAnswer]()
        for head in heads:
            fold = self._writer.folds.get(head.name)
            if fold is None or fold.id != head.id or fold.state_position < head.state_position:
                fold = self._get_fold(head.name)
            found.append(show_policy(fold, head))
        return found

    def show_policy(self, name: str) -> PolicyAnswer:
        """Show a policy as it is now."""
        fold = self._get_fold(name)
        with self.store.read() as transaction:
            return show_policy(fold, transaction.require_head(name))

    def get_decision(self, name: str, id: str) -> DecisionView:  # noqa: A002, users' word
        """Get a decision with all that came of it."""
        fold = self._get_fold(name)
        if not is_id(id):
            raise NoSuchDecision(id)
        with self.store.read() as transaction:
            head = transaction.require_head(name)
            row = transaction.find_decisions(head.id, [id]).get(id)
            if row is None:
                if transaction.find_pruned(head.id, [hash_id(id)]):
                    raise DecisionPruned(id)
                raise NoSuchDecision(id)
            positions = [] if row.closed is None else [row.closed]
            closing = transaction.get_events(head.id, positions).get(row.closed or 0)
        return show_decision(fold, row, closing)

    def list_events(self, name: str, *, after: int = 0, limit: int = 1000) -> list[EventView]:
        """List the events of a policy past a position, in order."""
        require_name(name)
        with self.store.read() as transaction:
            head = transaction.require_head(name)
            return show_events(transaction.list_events(head.id, after, limit))

    def list_daily_counts(self, name: str) -> list[DailyCount]:
        """List what was decided and learned, by day and arm."""
        fold = self._get_fold(name)
        with self.store.read() as transaction:
            return show_daily_counts(fold, transaction.list_daily_counts(fold.id))

    def get_effects(self, name: str, baseline: str | None = None) -> EffectTable:
        """Get bounds on the effects of all arms by the bounds in force."""
        return show_effects(self._get_fold(name), baseline)

    def get_bounds(self, name: str) -> bytes | None:
        """Get the present bounds as JSON, as ``BoundTable.save`` writes them.

        None for a policy without any.
        """
        require_name(name)
        with self.store.read() as transaction:
            head = transaction.require_head(name)
            return find_bounds(transaction.list_rare_events(head.id))

    def prune(self, name: str, before: datetime) -> PruneAnswer:
        """Erase the decisions that were over before a moment, and keep what was learned.

        Their ids are answered with ``DecisionPruned`` from then on. Bit by bit, so that others
        are answered meanwhile.
        """
        require_name(name)
        prepared = prepare_prune(self.store, name, before)
        if prepared is None:
            with self.store.read() as transaction:
                return PruneAnswer(0, 0, transaction.require_head(name).pruned_position)
        self._wait(prepared)
        n_decisions = n_events = 0
        while True:
            found: Erased = self._wait(EraseSome(name, prepared.position))
            n_decisions, n_events = n_decisions + found.decisions, n_events + found.events
            if found.done:
                self._retention.to_forget = not self.store.forget()
                return PruneAnswer(n_decisions, n_events, prepared.position)

    def erase(self, name: str, id: str) -> PruneAnswer:  # noqa: A002, users' word
        """Erase one decision at once, and keep what was learned; from the files too."""
        require_name(name)
        if not is_id(id):
            raise NoSuchDecision(id)
        while True:
            prepared = prepare_prune(self.store, name, None)
            assert prepared is not None
            self._wait(prepared)
            found: PruneAnswer = self._wait(EraseOne(name, id))
            if found.decisions:
                self._retention.to_forget = not self.store.forget()
                return found

    def delete(self, name: str) -> DeleteAnswer:
        """Delete a policy with all its events; its name is not given again."""
        require_name(name)
        answer: DeleteAnswer = self._wait(DeletePolicy(name))
        return answer

    def replay(self, name: str, *, decisions: bool = False) -> ReplayReport:
        """Fold all events again, and compare with what is in memory and in snapshots.

        With ``decisions`` every decision is made again too.
        """
        fold = self._get_fold(name)
        with fold.lock:
            kept = KeptState(fold.state_position, fold.write_state())
        return replay_policy(self.store, name, decisions=decisions, kept=kept)

    def count_unlearned(self, name: str) -> int:
        """Count the rewards of a policy that could not be learned since it was loaded."""
        fold = self._writer.folds.get(name)
        return 0 if fold is None else fold.n_unlearned

    def export(self, name: str, form: str = "csv", *, after: int = 0) -> Iterator[bytes]:
        """Write the closed decisions of a policy, piece by piece.

        As ``csv``, ``jsonl`` or ``parquet``, which ``read_log`` takes, as ``dsjson`` for Vowpal
        Wabbit, or as ``obp`` lines.
        """
        require_name(name)
        return export_log(self.store, name, form, after=after)

    def make_table(self, name: str) -> PropensityTable:
        """Make the table of the propensities of every arm in every context."""
        fold = self._get_fold(name)
        return tabulate_propensities(fold.copy())


def _prepare(command: Command) -> Prepared:
    """Do what takes long in the caller's thread, before the writer has the command."""
    if isinstance(command, CreatePolicy):
        return NewPolicy(command.config)
    require_name(command.policy)
    return NewBounds(command) if isinstance(command, RefreshBounds) else command

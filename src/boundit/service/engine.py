"""The service without HTTP: one writer thread, groups of commands, answers after the commit."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Any, overload

from msgspec import Struct

from boundit.service.commands import (
    ChanceTable,
    CloseWindows,
    Command,
    CreatePolicy,
    Decide,
    DecideBatchAnswer,
    DecisionView,
    EventView,
    GiveRewards,
    NoteRefutation,
    PolicyAnswer,
    PruneAnswer,
    RefreshAnswer,
    RefreshBounds,
    RewardBatchAnswer,
    TallyRow,
)
from boundit.service.config import require_name
from boundit.service.describe import show_policy
from boundit.service.errors import (
    DecisionPruned,
    FailedCommand,
    NoSuchDecision,
    NoSuchPolicy,
    ServiceError,
    TakesLong,
    Unavailable,
)
from boundit.service.fold import Fold
from boundit.service.reader.export import export_log
from boundit.service.reader.replay import KeptState, ReplayReport, replay_policy
from boundit.service.reader.show import (
    find_bounds,
    show_decision,
    show_events,
    show_tallies,
    tabulate_chances,
)
from boundit.service.retention import EVERY, Retention
from boundit.service.store.store import Head, Store, Transaction
from boundit.service.upkeep import Upkeep
from boundit.service.waiting import VISITS, CommandQueue, Waiting, deliver
from boundit.service.writer.changes import hash_id
from boundit.service.writer.close import AT_ONCE
from boundit.service.writer.create import prepare_policy
from boundit.service.writer.decide import is_id
from boundit.service.writer.group import Answer, GroupWriter, OwnCommand, Prepared
from boundit.service.writer.prune import Erased, EraseSome, prepare_prune

_log = logging.getLogger(__name__)
QUEUE = 20_000
"""How many rows may wait to be written."""
TICK = 1.0
"""How often, in seconds, windows are looked after."""
_FEW_ROWS = 64
"""So many rows an event loop writes by itself, where the store is near."""
_SLOW = 0.05
"""After a write that took so many seconds a loop leaves the next ones to the writer."""
_PAUSE = 1.0
"""For so many seconds."""


class EngineCounts(Struct):
    """What the engine counts for metrics, since it was started."""

    groups: int = 0
    rows: int = 0
    refused: int = 0
    store_failures: int = 0
    bugs: int = 0
    seconds_writing: float = 0.0


class Engine:
    """Policies that are kept in a store: decide, reward, refresh, and read what there is.

    ``submit`` takes a command and gives a future, ``run`` waits for its answer, ``ask`` is for
    event loops. An answer means that it is on disk. Everything may be called from any thread.

    A thread writes, one group after the other. Where the store is near and few rows wait, the
    event loop that asks takes a turn of its own: to hand them over takes longer.

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
    ) -> None:
        self.store, self._tick = store, tick
        self.counts = EngineCounts()
        self._queue, self._writer = CommandQueue(queue), GroupWriter(store)
        self._upkeep = Upkeep(store, self._writer)
        self._retention = Retention(store, self.prune, erase_every)
        self._problem: str | None = None
        self._turn, self._pause_until = threading.Lock(), 0.0
        self._planned_in: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="boundit writer", daemon=True)

    def start(self) -> None:
        """Start the writer; users call it once, or use the engine in a ``with``."""
        self._queue.open()
        self._thread.start()
        self._retention.start()

    def stop(self) -> None:
        """Refuse what is new, write what waits, and close the store; users call it last."""
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
        """How many rows wait to be written; users read it for metrics."""
        return self._queue.n_rows

    @property
    def problem(self) -> str | None:
        """Why nothing can be written now, None if it can; users read it."""
        return self._problem if self._thread.is_alive() else "the writer does not run"

    def require_ready(self) -> None:
        """Raise ``Unavailable`` unless policies can be loaded and written to.

        The HTTP layer calls it, for whoever sends it visitors.
        """
        self.list_policies()
        if self.problem is not None:
            raise Unavailable(self.problem.partition("; nothing was")[0])

    def submit(self, command: Command) -> "Future[Any]":
        """Hand a command to the writer; the future has the answer once it is on disk.

        Raises ``QueueFull`` or ``EngineStopped`` at once, and ``Unprocessable`` for what makes
        no policy. Users call it from threads.
        """
        future = Future[Any]()
        self._queue.put(Waiting(self._prepare(command), _count_rows(command), future))
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
    def run(self, command: CloseWindows | NoteRefutation) -> int: ...
    def run(self, command: Command) -> Any:
        """Run a command and wait for its answer, or raise its ``ServiceError``.

        Users call it from threads.
        """
        return self.submit(command).result()

    async def ask(self, command: Command) -> Any:
        """Run a command from an event loop, and wait for its answer; else as ``run``.

        Answers of one group come to the loop in one call. The HTTP layer calls it.
        """
        loop = asyncio.get_running_loop()
        prepared: Prepared
        if isinstance(command, CreatePolicy):
            prepared = await asyncio.to_thread(self._prepare, command)
        else:
            prepared = self._prepare(command)
        future, rows = loop.create_future(), _count_rows(command)
        here = rows <= _FEW_ROWS and self._may_write_here(command)
        self._queue.put(Waiting(prepared, rows, future, loop), wake=not here)
        if here and self._planned_in is not loop:
            self._planned_in = loop
            # Whoever else is heard in this round of the loop is written in the same group.
            loop.call_soon(self._write_here, loop)
        return await future

    def _may_write_here(self, command: Command) -> bool:
        """Tell whether an event loop may write a command by itself; called by ``ask``."""
        return (
            self.store.is_near
            and isinstance(command, VISITS)
            and command.policy in self._writer.folds
            and time.monotonic() >= self._pause_until
        )

    def _write_here(self, loop: asyncio.AbstractEventLoop) -> None:
        """Write what waits, in the thread of an event loop, or leave it to the writer's.

        That is where there is much, or something that takes long. ``ask`` plans it.
        """
        self._planned_in = None
        if not self._turn.acquire(blocking=False):
            self._queue.wake()
            return
        begun, group = time.monotonic(), self._queue.take_few(_FEW_ROWS)
        try:
            if group:
                self._write(group, loop)
            else:
                self._queue.wake()
        except TakesLong:
            self._queue.put_back(group, 0)
        finally:
            self._turn.release()
        if time.monotonic() - begun > _SLOW:
            self._pause_until = time.monotonic() + _PAUSE
        if self._writer.is_behind:
            # The answers go out in the next round of the loop; then it learns.
            loop.call_soon(loop.call_soon, self._settle_here)

    def _settle_here(self) -> None:
        """Learn what ``_write_here`` wrote, unless the writer's thread is at it."""
        if self._turn.acquire(blocking=False):
            try:
                self._writer.settle()
            finally:
                self._turn.release()
        if self._writer.refuted:
            self._queue.wake()

    def _prepare(self, command: Command) -> Prepared:
        """Do what takes long in the caller's thread; called by ``submit`` and ``ask``."""
        if isinstance(command, CreatePolicy):
            return prepare_policy(command)
        require_name(command.policy)
        return command

    def _work(self) -> None:
        """Write groups until the engine stops; the writer's thread runs it."""
        ticked = time.monotonic()
        while (group := self._queue.take(ticked + self._tick - time.monotonic())) is not None:
            with self._turn:
                if group:
                    self._write(group)
                if time.monotonic() >= ticked + self._tick and not self._look_after():
                    ticked = time.monotonic()
                self._note_refutations()
        with self._turn:
            self._writer.settle()
            self._upkeep.keep_snapshots(1)

    def _note_refutations(self) -> None:
        """Write down which policies' bounds were refuted; called by ``_work``."""
        refuted, self._writer.refuted = self._writer.refuted, set()
        if refuted:
            self._write_own([NoteRefutation(name) for name in sorted(refuted)])

    def _look_after(self) -> bool:
        """Close windows that are due and keep snapshots; gives whether more are due.

        Called by ``_work`` every second, and between groups as long as more are due.
        """
        try:
            self._writer.settle()
            self._upkeep.keep_snapshots()
            self._try_again()
            found = self._write_own(self._upkeep.list_closings())
        except Exception:  # noqa: BLE001, the writer must live on
            _log.exception("windows are not looked after")
            return False
        return AT_ONCE in found

    def _try_again(self) -> None:
        """Find out whether a problem has gone, also where nobody sends anything any more.

        Called by ``_look_after`` every second.
        """
        if self._problem is None:
            return
        try:
            with self.store.write() as transaction:
                transaction.touch()
        except ServiceError as error:
            self._problem = str(error)
        else:
            self._problem = None

    def _write(
        self, group: list[Waiting], here: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """Write a group and answer it, ``here`` for the loop that does, in a hurry.

        Called by ``_work`` and ``_write_here``.
        """
        begun, counts = time.perf_counter(), self.counts
        answers = self._process([one.command for one in group], hurry=here is not None)
        again: list[Waiting] = []
        done: list[tuple[Waiting, Answer]] = []
        n_rows = 0
        for one, answer in zip(group, answers, strict=True):
            if answer is None:
                again.append(one)
                continue
            done.append((one, answer))
            n_rows += one.rows
            counts.refused += isinstance(answer, ServiceError)
        self._queue.put_back(again, n_rows)
        self._hand_back(done, here)
        counts.groups += 1
        counts.rows += n_rows
        counts.seconds_writing += time.perf_counter() - begun

    def _hand_back(
        self,
        done: Sequence[tuple[Waiting, Answer]],
        here: asyncio.AbstractEventLoop | None,
    ) -> None:
        """Hand answers back: to visitors before the policy learns, to who looks at it after.

        Called by ``_write``.
        """
        early: list[tuple[Waiting, Answer]] = []
        late: list[tuple[Waiting, Answer]] = []
        for pair in done:
            is_visit = isinstance(pair[0].command, VISITS)
            (early if is_visit and pair[0].loop is not None else late).append(pair)
        deliver(early, here)
        if late or here is None:
            self._writer.settle()
            deliver(late, here)

    def _process(self, commands: Sequence[Prepared], *, hurry: bool) -> Sequence[Answer]:
        """Process commands in one transaction; if that fails, all have the error.

        Called by ``_write``.
        """
        try:
            answers = self._writer.process(commands, hurry=hurry)
        except TakesLong:
            raise
        except ServiceError as error:
            self.counts.store_failures += 1
            self._problem = str(error)
            return [error] * len(commands)
        except Exception as error:  # noqa: BLE001, the writer must live on
            _log.exception("a group failed")
            self.counts.bugs += 1
            return [FailedCommand(error)] * len(commands)
        # To look is not to write: a disk that is full lets it pass.
        if not all(isinstance(command, CloseWindows) for command in commands):
            self._problem = None
        return answers

    def _write_own(self, commands: Sequence[OwnCommand]) -> list[Answer]:
        """Write commands of the engine's own, and give their answers.

        Called by ``_note_refutations`` and ``_look_after``.
        """
        if not commands:
            return []
        waiting = [(command, Future[Any]()) for command in commands]
        self._write([Waiting(command, 0, future) for command, future in waiting])
        return [
            future.result()
            for _, future in waiting
            if future.done() and future.exception() is None
        ]

    def _get_fold(self, name: str) -> Fold:
        """Get a policy as it is now, from whoever wrote last; called by those who look."""
        self.run(CloseWindows(name))
        return self._writer.folds[name]

    def list_policies(self) -> list[PolicyAnswer]:
        """List all policies by name; users call it."""
        with self.store.read() as transaction:
            heads = transaction.list_heads()
        return [self.show_policy(head.name) for head in heads]

    def show_policy(self, name: str) -> PolicyAnswer:
        """Show a policy as it is now; users call it."""
        fold = self._get_fold(name)
        with self.store.read() as transaction:
            return show_policy(fold, _require_head(transaction, name))

    def get_decision(self, name: str, id: str) -> DecisionView:  # noqa: A002, users' word
        """Get a decision with all that came of it; users call it."""
        fold = self._get_fold(name)
        if not is_id(id):
            raise NoSuchDecision(id)
        with self.store.read() as transaction:
            head = _require_head(transaction, name)
            row = transaction.find_decisions(head.id, [id]).get(id)
            if row is None:
                if transaction.find_pruned(head.id, [hash_id(id)]):
                    raise DecisionPruned(id)
                raise NoSuchDecision(id)
            positions = [] if row.closed is None else [row.closed]
            closing = transaction.get_events(head.id, positions).get(row.closed or 0)
        return show_decision(fold, row, closing)

    def list_events(self, name: str, *, after: int = 0, limit: int = 1000) -> list[EventView]:
        """List the events of a policy past a position, in order; users call it."""
        with self.store.read() as transaction:
            head = _require_head(transaction, name)
            return show_events(transaction.list_events(head.id, after, limit))

    def list_tallies(self, name: str) -> list[TallyRow]:
        """List what was decided and learned, by day and arm; users call it."""
        fold = self._get_fold(name)
        with self.store.read() as transaction:
            return show_tallies(fold, transaction.list_tallies(fold.id))

    def get_bounds(self, name: str) -> bytes | None:
        """Get the present bounds as JSON, as ``BoundTable.save`` writes them; users call it.

        None for a policy without any.
        """
        with self.store.read() as transaction:
            head = _require_head(transaction, name)
            return find_bounds(transaction.list_rare_events(head.id))

    def prune(self, name: str, before: datetime) -> PruneAnswer:
        """Erase the decisions that were over before a moment, and keep what was learned.

        Their ids are answered with ``DecisionPruned`` from then on. Bit by bit, so that others
        are answered meanwhile. Users call it from a thread.
        """
        prepared = prepare_prune(self.store, name, before)
        if prepared is None:
            with self.store.read() as transaction:
                return PruneAnswer(0, 0, _require_head(transaction, name).pruned_position)
        self._run_own(prepared)
        n_decisions = n_events = 0
        while True:
            found: Erased = self._run_own(EraseSome(name, prepared.position))
            n_decisions, n_events = n_decisions + found.decisions, n_events + found.events
            if found.done:
                return PruneAnswer(n_decisions, n_events, prepared.position)

    def _run_own(self, command: OwnCommand) -> Any:
        """Run a command of the engine's own, in its turn; called by ``prune``."""
        future = Future[Any]()
        self._queue.put(Waiting(command, 1, future))
        return future.result()

    def replay(self, name: str, *, decisions: bool = False) -> ReplayReport:
        """Fold all events again, and compare with what is in memory and in snapshots.

        With ``decisions`` every decision is made again too. Users call it.
        """
        fold = self._get_fold(name)
        with fold.lock:
            kept = KeptState(fold.state_position, fold.write_state())
        return replay_policy(self.store, name, decisions=decisions, kept=kept)

    def export(self, name: str, form: str = "csv") -> Iterator[bytes]:
        """Write the closed decisions of a policy, piece by piece; users call it.

        As ``csv``, ``jsonl`` or ``parquet``, which ``read_log`` takes, as ``dsjson`` for Vowpal
        Wabbit, or as ``obp`` lines.
        """
        require_name(name)
        return export_log(self.store, name, form)

    def make_table(self, name: str) -> ChanceTable:
        """Make the table of the chances of every arm in every context; users call it."""
        fold = self._get_fold(name)
        return tabulate_chances(fold.copy())


def _require_head(transaction: Transaction, name: str) -> Head:
    """Get the head row of a policy, or raise ``NoSuchPolicy``; called by those who look."""
    require_name(name)
    head = transaction.get_head(name)
    if head is None:
        raise NoSuchPolicy(name)
    return head


def _count_rows(command: Command) -> int:
    """Count the rows of a command; called by ``Engine.submit`` and ``Engine.ask``."""
    return len(command.requests) if isinstance(command, VISITS) else 1

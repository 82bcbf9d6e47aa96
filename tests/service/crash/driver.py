"""The driver: it feeds engines, kills them, and holds the store against what it wrote down."""

import json
import os
import random
import selectors
import signal
import time
import traceback
from collections import deque
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from boundit.service.changes import KnownDecision
from boundit.service.commands import CreatePolicy
from boundit.service.engine import Engine
from boundit.service.store.base import DecisionRow, Store
from boundit.service.verify import replay_policy
from tests.service.crash.ledger import find_faults
from tests.service.crash.stores import CrashStore
from tests.service.crash.worker import serve
from tests.service.kit import make_config

IN_FLIGHT = 12
"""How many commands an engine has at once."""


@dataclass
class CrashReport:
    """What was done and what was found; ``faults`` must be empty."""

    kills: int = 0
    kills_at_statements: int = 0
    kills_before_answers: int = 0
    database_kills: int = 0
    acknowledged_decisions: int = 0
    acknowledged_rewards: int = 0
    unanswered: int = 0
    committed_but_unanswered: int = 0
    refused: int = 0
    checks: int = 0
    events: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def n_kills(self) -> int:
        """All kills, of engines and of databases."""
        engines = self.kills + self.kills_at_statements + self.kills_before_answers
        return engines + self.database_kills

    def add(self, other: "CrashReport") -> None:
        """Add what another run did."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Worker:
    """A process with an engine, its pipes, and what it has not answered yet."""

    pid: int
    commands: int
    answers: int
    waiting: dict[int, dict[str, Any]] = field(default_factory=dict)
    text: bytes = b""


class CrashRun:
    """Some engines on one store, under load, which are killed one after the other."""

    def __init__(self, store: CrashStore, rng: random.Random, workers: int) -> None:
        self.store, self.rng = store, rng
        self.report = CrashReport()
        self.selector = selectors.DefaultSelector()
        self.retries: deque[dict[str, Any]] = deque()
        self.number = 0
        self.decided: dict[str, list[Any]] = {}
        self.rewarded: dict[str, float] = {}
        self.ages: dict[str, int] = {}
        self.unrewarded: list[str] = []
        window = rng.choice([None, 0.2])
        options: dict[str, Any] = (
            {} if window is None else {"window": window, "default_reward": 0.0}
        )
        kind = rng.choice(["TS", "LinUCB", "Fused"])
        with Engine(store.open()) as engine:
            engine.run(CreatePolicy(make_config(kind=kind, explore=0.05, **options)))
        self.workers = list[Worker]()
        for _ in range(workers):
            self.workers.append(self._start())

    def _start(self) -> Worker:
        """Fork an engine; modules are loaded already, so that it is quick."""
        read_commands, write_commands = os.pipe()
        read_answers, write_answers = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self.selector.close()
                for worker in self.workers:
                    os.close(worker.commands)
                    os.close(worker.answers)
                os.close(write_commands)
                os.close(read_answers)
                serve(self.store.open, read_commands, write_answers)
            except BaseException:  # noqa: BLE001, said here, as nobody above this is to know
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(read_commands)
        os.close(write_answers)
        os.set_blocking(read_answers, False)
        worker = Worker(pid, write_commands, read_answers)
        self.selector.register(read_answers, selectors.EVENT_READ, worker)
        return worker

    def kill_once(self, longest: float) -> None:
        """Run for a random while, then kill an engine, or the database, and start it again.

        Every second engine kills itself: within a transaction, at a statement of it, or after
        the commit and before it answers.
        """
        self._run_until(time.monotonic() + self.rng.uniform(0, longest))
        if self.store.crash is not None and self.rng.random() < 0.1:
            self.store.crash()
            self.report.database_kills += 1
            return
        worker = self.rng.choice(self.workers)
        at = self.rng.choice(["", "", "statement", "answer"])
        if at and self._let_die(worker, at):
            self.report.kills_at_statements += at == "statement"
            self.report.kills_before_answers += at == "answer"
        else:
            os.kill(worker.pid, signal.SIGKILL)
            self._note_end(worker, os.waitpid(worker.pid, 0)[1])
            self.report.kills += 1
        self._read(worker)  # what it said before it died counts
        self._forget(worker)
        self.workers.append(self._start())

    def _let_die(self, worker: Worker, at: str) -> bool:
        """Ask an engine to kill itself, and wait until it has, under load; False if not."""
        fuse = {"do": "die", "at": at, "after": self.rng.randint(1, 30)}
        with suppress(BrokenPipeError):  # it is dead already, and that is a fault
            os.write(worker.commands, json.dumps(fuse).encode() + b"\n")
        for _ in range(500):
            self._run_until(time.monotonic() + 0.02)
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                self._note_end(worker, status)
                return True
        return False

    def _note_end(self, worker: Worker, status: int) -> None:
        """Note an engine that ended otherwise than by being killed."""
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            self.report.faults.append(f"engine {worker.pid} ended with status {status}")

    def _forget(self, worker: Worker) -> None:
        self.workers.remove(worker)
        self.selector.unregister(worker.answers)
        os.close(worker.answers)
        os.close(worker.commands)
        self.report.unanswered += len(worker.waiting)
        self.retries.extend(worker.waiting.values())

    def _run_until(self, moment: float) -> None:
        while (left := moment - time.monotonic()) > 0:
            for worker in self.workers:
                while len(worker.waiting) < IN_FLIGHT and self._send(worker):
                    pass
            for key, _ in self.selector.select(min(left, 0.05)):
                self._read(key.data)

    def _send(self, worker: Worker) -> bool:
        """Send a command; one whose answer never came is sent again as it was."""
        request = self.retries.popleft() if self.retries else self._make()
        if self.rng.random() < 0.03:  # somebody is impatient, and sends it to another one too
            self.retries.append(request)
        self.number += 1
        worker.waiting[self.number] = request
        try:
            os.write(
                worker.commands, json.dumps({"n": self.number, **request}).encode() + b"\n"
            )
        except BrokenPipeError:  # it is dying
            return False
        return True

    def _make(self) -> dict[str, Any]:
        size = self.rng.choice([1, 1, 1, 5])
        if self.unrewarded and self.rng.random() < 0.4:
            names = [self.unrewarded.pop() for _ in range(min(size, len(self.unrewarded)))]
            return {"do": "reward", "rows": [[n, self.rng.choice([0.0, 1.0])] for n in names]}
        rows = [(f"v{self.number}-{i}", self.rng.randrange(3)) for i in range(size)]
        self.ages.update(rows)
        return {"do": "decide", "rows": rows}

    def _read(self, worker: Worker) -> None:
        while True:
            try:
                piece = os.read(worker.answers, 1 << 16)
            except BlockingIOError:
                break
            if not piece:
                break
            worker.text += piece
        *lines, worker.text = worker.text.split(b"\n")
        for line in lines:
            answer = json.loads(line)
            request = worker.waiting.pop(answer["n"], None)
            if request is not None:
                self._note(request, answer)

    def _note(self, request: dict[str, Any], answer: dict[str, Any]) -> None:
        """Write down an answer; one that says to try again is tried again."""
        if "error" in answer:
            if answer["status"] != 503:
                self.report.faults.append(f"{request} was refused: {answer['error']}")
            self.report.refused += 1
            self.retries.append(request)
            return
        if request["do"] == "decide":
            for name, repeated, *found in answer["rows"]:
                if name not in self.decided:
                    self.unrewarded.append(name)
                    self.report.committed_but_unanswered += repeated
                if self.decided.setdefault(name, found) != found:
                    self.report.faults.append(f"{name} was answered twice, and otherwise")
            self.report.acknowledged_decisions += len(answer["rows"])
            return
        self.rewarded.update(request["rows"])
        self.report.acknowledged_rewards += len(answer["rows"])

    def check(self) -> None:
        """Hold the store against all that was acknowledged, and replay it."""
        store = self._open()
        try:
            with store.read() as transaction:
                head = transaction.get_head("ads")
                assert head is not None
                rows = transaction.find_decisions(head.id, list(self.ages))
                self.report.faults += find_faults(transaction, head)
            self._compare(rows)
            report = replay_policy(store, "ads", decisions=True)
            self.report.faults += report.differences
            self.report.events = report.position
            self.report.checks += 1
        finally:
            store.close()

    def _open(self) -> Store:
        for _ in range(100):
            try:
                return self.store.open()
            except Exception:  # noqa: BLE001, the database is starting
                time.sleep(0.05)
        return self.store.open()

    def _compare(self, rows: dict[str, DecisionRow]) -> None:
        for name, (arm, propensity, position) in self.decided.items():
            row = rows.get(name)
            if row is None:
                self.report.faults.append(f"{name} was acknowledged and is lost")
                continue
            decided = KnownDecision(*row).decided
            if (decided.arm, decided.propensity, row.position) != ([arm], propensity, position):
                self.report.faults.append(f"{name} is not what was acknowledged")
        for name, value in self.rewarded.items():
            row = rows.get(name)
            found = KnownDecision(*row).read_outcome().rewards if row else []
            if [one.reward for one in found] != [value]:
                self.report.faults.append(f"the reward of {name} was acknowledged and is lost")

    def __enter__(self) -> "CrashRun":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave no engine behind, whatever went wrong: it would hold pipes of this process."""
        for worker in self.workers:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)
        self.selector.close()

    def stop(self) -> None:
        """Let the engines end by themselves, and check for the last time."""
        for worker in self.workers:
            os.close(worker.commands)
        for worker in self.workers:
            os.set_blocking(worker.answers, True)
            while piece := os.read(worker.answers, 1 << 16):
                worker.text += piece
            os.waitpid(worker.pid, 0)
            self._read(worker)
            self.selector.unregister(worker.answers)
            os.close(worker.answers)
        self.workers.clear()
        self.check()

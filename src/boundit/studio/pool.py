"""Jobs: who waits, who works, what came out, and what is kept of it."""

import asyncio
import hashlib
import secrets
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Raw

from boundit.studio.errors import StudioError
from boundit.studio.folder import Folder
from boundit.studio.project import DataSource, Project, keep_asked
from boundit.studio.worker import JobKind, JobMessage, JobOrder

MOST_WAITING, MOST_REMEMBERED = 50, 300
"""How many jobs may wait, and of how many it is known how they ended."""
KEPT_BYTES = 128 * 1024 * 1024
"""How many bytes of results are kept, so that the same question is answered at once."""
GRACE = 3.0
"""Seconds that a worker has to leave work nobody wants any more, before it is ended."""
PATIENCE = 15.0
"""Seconds that a job is worked on though nobody hears of it."""
_ENDING = 10.0
"""Seconds that a killed process has to be gone."""
CANCELLED = JobMessage("", "stopped")


@dataclass(eq=False)
class Job:
    """One job: what it is, how far it has come, and how it ended."""

    id: str
    kind: JobKind
    line: str
    key: str
    project: Project
    progress: JobMessage | None = None
    part: JobMessage | None = None
    ended: JobMessage | None = None
    followers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, message: JobMessage) -> None:
        """Note how far a job has come, or how it ended."""
        if self.ended is not None:
            return
        if message.what == "progress":
            self.progress = message
        elif message.what == "part":
            self.part = message
        else:
            self.ended = message
        self.changed.set()
        self.changed = asyncio.Event()


class WorkerProcess:
    """One worker; ``told`` hears its messages on the server's loop, and None at its end."""

    def __init__(
        self, folder: Path, told: Callable[["WorkerProcess", JobMessage | None], None]
    ) -> None:
        self._told, self._loop = told, asyncio.get_running_loop()
        self.job: str | None = None
        self.ready = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "boundit.studio.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the server, which then ends its workers.
            start_new_session=True,
        )
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def order(self, order: JobOrder) -> None:
        """Send a worker its next job, or that one is not wanted any more.

        A worker that has just ended hears nothing.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # it is closed, or about to be
            self.kill()

    def kill(self) -> None:
        """End the process at once, whatever it is doing."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and wait until nobody listens to it."""
        self.kill()
        self._thread.join(_ENDING)

    @property
    def ending(self) -> int | None:
        """How the process ended: below zero the signal that ended it; None while it runs."""
        return self._process.poll()

    def _listen(self) -> None:
        """Hand on messages until there are no more to come; runs in a thread of its own."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = msgspec.json.decode(line, type=JobMessage)
            except msgspec.DecodeError:
                break  # it was ended within a line
            self._tell(message)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._tell(None)

    def _tell(self, message: JobMessage | None) -> None:
        """Hand a message to the server's loop, unless that is closed already."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._told, self, message)


class JobPool:
    """The workers of a studio, the jobs that they do and those that wait.

    All of it runs on the server's loop. ``most_workers`` work at a time; one is there before
    anybody asks. A job that nobody follows is left after ``patience`` seconds.
    """

    def __init__(
        self, folder: Folder, most_workers: int = 2, patience: float = PATIENCE
    ) -> None:
        self._folder, self._most, self._patience = folder, most_workers, patience
        self._workers = list[WorkerProcess]()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting = list[Job]()
        self._kept: OrderedDict[str, Raw] = OrderedDict()
        self._kept_bytes = 0
        self._closed = False

    def warm_up(self) -> None:
        """Begin a worker before anybody asks."""
        if not self._workers and not self._closed:
            self._begin_worker()

    def submit(self, kind: JobKind, project: Project, line: str) -> Job:
        """Take a job; the newest of a line wins, an older one is left.

        A job that nobody follows is left too: its page is gone, and others wait. What was
        answered before is answered at once.
        """
        key = make_key(kind, project, self._folder)
        for older in list(self._jobs.values()):
            if older.line == line and older.ended is None:
                if older.key == key:
                    return older
                self._leave(older)
        if len(self._waiting) >= MOST_WAITING:
            raise StudioError(
                "too_much", f"{MOST_WAITING} jobs wait already; cancel some first"
            )
        job = Job(secrets.token_urlsafe(12), kind, line, key, project)
        self._jobs[job.id] = job
        self._forget()
        if key in self._kept:
            self._kept.move_to_end(key)
            job.note(JobMessage(job.id, "result", result=self._kept[key]))
        else:
            self._waiting.append(job)
            self._assign()
            self._watch(job)
        return job

    async def follow(self, id_: str) -> AsyncIterator[JobMessage]:
        """Give the messages of a job as they come, the last one says how it ended.

        Progress and parts that nobody heard in time are left out.
        """
        job, told = self.find(id_), list[JobMessage]()
        job.followers += 1
        try:
            while True:
                changed = job.changed
                known = [each for each in (job.part, job.progress) if each is not None]
                for each in known:
                    if all(each is not heard for heard in told):
                        yield each
                told = known
                if job.ended is not None:
                    yield job.ended
                    return
                if job.changed is changed:
                    await changed.wait()
        finally:
            job.followers -= 1
            self._watch(job)

    def cancel(self, id_: str) -> None:
        """End a job at once, its worker too if it is at it."""
        job = self.find(id_)
        if job.ended is not None:
            return
        job.note(CANCELLED)
        if job in self._waiting:
            self._waiting.remove(job)
        for worker in self._workers:
            if worker.job == job.id:
                worker.kill()

    def close(self) -> None:
        """End all workers."""
        self._closed = True
        for worker in self._workers:
            worker.close()

    def find(self, id_: str) -> Job:
        """Find a job by its id, or raise."""
        if id_ not in self._jobs:
            raise StudioError("not_found", "there is no such job; ask again")
        return self._jobs[id_]

    def _watch(self, job: Job) -> None:
        """Leave a job that nobody has come to follow a while from now."""
        if job.ended is None and not job.followers and not self._closed:
            asyncio.get_running_loop().call_later(self._patience, self._leave_unheard, job)

    def _leave_unheard(self, job: Job) -> None:
        """Leave a job that still nobody follows; the loop's clock calls it."""
        if job.ended is None and not job.followers:
            self._leave(job)

    def _leave(self, job: Job) -> None:
        """Leave a job that nobody wants; its worker stays if it stops by itself."""
        job.note(CANCELLED)
        if job in self._waiting:
            self._waiting.remove(job)
            return
        for worker in self._workers:
            if worker.job == job.id:
                worker.order(JobOrder(stop=job.id))
                asyncio.get_running_loop().call_later(GRACE, self._end_late, worker, job.id)

    def _end_late(self, worker: WorkerProcess, job: str) -> None:
        """End a worker that did not leave a job in time; the loop's clock calls it."""
        if worker.job == job:
            worker.kill()

    def _assign(self) -> None:
        """Give waiting jobs to workers that are free, and begin more of these if needed.

        Called whenever a job comes or a worker is free.
        """
        for worker in self._workers:
            if worker.ready and worker.job is None and self._waiting:
                job = self._waiting.pop(0)
                worker.job = job.id
                worker.order(JobOrder(job.id, job.kind, job.project))
        starting = sum(not worker.ready for worker in self._workers)
        while len(self._waiting) > starting and len(self._workers) < self._most:
            self._begin_worker()
            starting += 1

    def _begin_worker(self) -> None:
        """Begin a worker."""
        self._workers.append(WorkerProcess(self._folder.path, self._hear))

    def _hear(self, worker: WorkerProcess, message: JobMessage | None) -> None:
        """Hear what a worker tells; ``WorkerProcess`` calls it."""
        if message is None:
            self._bury(worker)
        elif message.what == "ready":
            worker.ready = True
        elif (job := self._jobs.get(message.id)) is not None:
            if message.what == "result" and job.ended is None:
                self._keep(job.key, message.result)
            job.note(message)
        if message is not None and message.what not in {"ready", "progress", "part"}:
            worker.job = None
        if not self._closed:
            self._assign()

    def _bury(self, worker: WorkerProcess) -> None:
        """Tell of a worker's end to whoever waits for it, and begin another in its place."""
        self._workers.remove(worker)
        died = JobMessage("", "error", error=describe_death(worker.ending).record())
        job = self._jobs.get(worker.job or "")
        if job is not None:
            job.note(died)
        if not worker.ready and self._waiting:
            # It ended before it could begin: so would the next one.
            for waiting in self._waiting:
                waiting.note(died)
            self._waiting.clear()
        elif not self._workers and not self._closed:
            self._begin_worker()

    def _keep(self, key: str, result: Raw) -> None:
        """Keep a result, and forget the oldest where there are too many bytes."""
        self._kept[key] = result
        self._kept_bytes += len(bytes(result))
        while self._kept_bytes > KEPT_BYTES and self._kept:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(bytes(oldest))

    def _forget(self) -> None:
        """Forget how the oldest jobs ended."""
        ended = [job.id for job in self._jobs.values() if job.ended is not None]
        for id_ in ended[: max(0, len(self._jobs) - MOST_REMEMBERED)]:
            del self._jobs[id_]


def describe_death(ending: int | None) -> StudioError:
    """Say that a worker's process ended in the middle of its work."""
    if ending is not None and ending < 0:
        how = f"the system ended it (signal {-ending}), most often for lack of memory"
    else:
        how = f"its process ended (code {ending})"
    return StudioError(
        "worker_died",
        f"this work was lost: {how}; nothing was changed",
        hint="Ask of fewer contexts, cut numbers into fewer bins, or try again.",
    )


def make_key(kind: JobKind, project: Project, folder: Folder) -> str:
    """Make a key that says what an answer hangs on: the kind, the project, files as they are."""
    asked = project if kind == "report" else keep_asked(project)
    if kind == "look":  # one look at a file serves every graph
        asked = Project(data=DataSource(file=project.data.file))
    if kind == "simulate":
        asked = msgspec.structs.replace(asked, simulate=project.simulate)
    files = [name for name in (project.data.file, *project.settings.external) if name]
    stamps = [folder.stamp(name) for name in files]
    body = msgspec.json.encode([kind, asked, stamps])
    return hashlib.sha256(body).hexdigest()

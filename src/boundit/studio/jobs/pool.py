"""Jobs: who waits, who works, what came out, and what is kept of it."""

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw

from boundit.studio.asked import keep_asked
from boundit.studio.errors import NoSuchPart, StudioError, TooMuch
from boundit.studio.folder import Folder
from boundit.studio.jobs.worker import JobKind, JobMessage, JobOrder
from boundit.studio.jobs.worker_process import WorkerProcess
from boundit.studio.project import Project
from boundit.studio.refusals import Refusal, make_refusal

MOST_WAITING, MOST_REMEMBERED = 50, 300
"""How many jobs may wait, and of how many it is known how they ended."""
KEPT_BYTES = 128 * 1024 * 1024
"""How many bytes of results are kept, so that the same question is answered at once."""
GRACE = 3.0
"""Seconds that a worker has to leave work nobody wants any more, before it is ended."""
PATIENCE = 15.0
"""Seconds that a job is worked on though nobody hears of it."""
CANCELLED = JobMessage("", "stopped")


class WorkerDied(StudioError):
    """A worker whose process ended in the middle of its work."""

    status = 500
    code = "worker_died"

    def __init__(self, ending: int | None) -> None:
        if ending is not None and ending < 0:
            how = f"the system ended it (signal {-ending}), most often for lack of memory"
        else:
            how = f"its process ended (code {ending})"
        super().__init__(
            f"this work was lost: {how}; nothing was changed",
            hint="Ask of fewer contexts, cut numbers into fewer bins, or try again.",
        )


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
        """Note how far a job has come, or how it ended; called by ``JobPool``."""
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
        """Begin a worker before anybody asks; called when the page is opened."""
        if not self._workers and not self._closed:
            self._begin_worker()

    def submit(self, kind: JobKind, project: Project, line: str) -> Job:
        """Take a job; the newest of a line wins, an older one is left.

        A job that nobody follows is left too: its page is gone, and others wait. What was
        answered before is answered at once. Called for ``/api/jobs``, and by ``JobPool.ask``.
        """
        key = make_key(kind, project, self._folder)
        for older in list(self._jobs.values()):
            if older.line == line and older.ended is None:
                if older.key == key:
                    return older
                self._leave(older)
        if len(self._waiting) >= MOST_WAITING:
            raise TooMuch(f"{MOST_WAITING} jobs wait already; cancel some first")
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

    async def ask(self, kind: JobKind, project: Project, line: str) -> JobMessage:
        """Submit a job and wait for how it ends; called for ``/api/data/look``."""
        job = self.submit(kind, project, line)
        job.followers += 1
        while job.ended is None:
            await job.changed.wait()
        return job.ended

    async def follow(self, id_: str) -> AsyncIterator[JobMessage]:
        """Give the messages of a job as they come, the last one says how it ended.

        Progress and parts that nobody heard in time are left out. Called for
        ``/api/jobs/{id}/events``.
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
        """End a job at once, its worker too if it is at it; called for a cancel of the page."""
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
        """End all workers; called when the server stops."""
        self._closed = True
        for worker in self._workers:
            worker.close()

    def find(self, id_: str) -> Job:
        """Find a job by its id, or raise; called by ``stream_events``."""
        if id_ not in self._jobs:
            raise NoSuchPart("there is no such job; ask again")
        return self._jobs[id_]

    def _watch(self, job: Job) -> None:
        """Leave a job that nobody has come to follow a while from now.

        Called when a job begins and when somebody stops to follow it, such as a page that is
        reloaded; one whose connection broke has the time to come back.
        """
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
        """Begin a worker; called by ``JobPool.warm_up`` and ``JobPool._assign``."""
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
        job = self._jobs.get(worker.job or "")
        if job is not None:
            error: Refusal = make_refusal(WorkerDied(worker.ending))
            job.note(JobMessage(job.id, "error", error=error))
        if not worker.ready and self._waiting:
            # It ended before it could begin: so would the next one.
            for waiting in self._waiting:
                refusal = make_refusal(WorkerDied(worker.ending))
                waiting.note(JobMessage(waiting.id, "error", error=refusal))
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
        """Forget how the oldest jobs ended; called by ``JobPool.submit``."""
        ended = [job.id for job in self._jobs.values() if job.ended is not None]
        for id_ in ended[: max(0, len(self._jobs) - MOST_REMEMBERED)]:
            del self._jobs[id_]


def make_key(kind: JobKind, project: Project, folder: Folder) -> str:
    """Make a key that says what an answer hangs on: the kind, the project, files as they are."""
    asked = project if kind == "report" else keep_asked(project)
    if kind == "simulate":
        asked = msgspec.structs.replace(asked, simulate=project.simulate)
    files = [name for name in (project.data.file, *project.settings.external) if name]
    stamps = [folder.stamp(name) for name in files]
    body = msgspec.json.encode([kind, asked, stamps])
    return hashlib.sha256(body).hexdigest()

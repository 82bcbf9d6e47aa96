"""Jobs in real worker processes: progress, results that are kept, ends of every kind."""

import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from boundit.core.long_work import Progress
from boundit.studio import worker as module
from boundit.studio.answers import CountKeeper
from boundit.studio.ask import AskedProject
from boundit.studio.examples import open_example
from boundit.studio.folder import Folder
from boundit.studio.pool import Job, JobPool, WorkerProcess, make_key
from boundit.studio.project import Project, SimulateSettings
from boundit.studio.worker import ANSWERS, JobMessage, JobOrder, Worker
from tests.patience import PATIENCE
from tests.studio.projects import refused


def run(
    folder: Path,
    body: Callable[[JobPool, Project], Awaitable[None]],
    patience: float = PATIENCE,
) -> None:
    """Run a test on a loop of its own, with the pharmacy and a pool of one worker."""

    async def main() -> None:
        place = Folder(folder)
        pool = JobPool(place, most_workers=1, patience=patience)
        try:
            async with asyncio.timeout(PATIENCE):
                await body(pool, open_example("pharmacy", place))
        finally:
            pool.close()

    asyncio.run(main())


async def wait(job: Job) -> JobMessage:
    while job.ended is None:
        await job.changed.wait()
    return job.ended


async def wait_for_progress(pool: JobPool, job: Job) -> None:
    async for message in pool.follow(job.id):
        assert message.what == "progress", message
        if message.words != "begin":
            return


def make_long(project: Project, runs: int = 900) -> Project:
    """A job that takes longer than any test waits."""
    return replace(project, simulate=SimulateSettings(rounds=900_000, runs=runs))


def test_a_job_tells_how_far_it_is_and_then_its_result(tmp_path: Path) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        job = pool.submit("bound", project, "a")
        told = [message async for message in pool.follow(job.id)]

        assert [message.what for message in told[:-1]] == ["progress"] * (len(told) - 1)
        assert told[-1].what == "result"
        found = msgspec.json.decode(bytes(told[-1].result))
        assert len(found["rows"]) == 6

        again = pool.submit("bound", replace(project, name="moved"), "b")
        assert again.ended is not None, "what was answered is answered at once"
        assert bytes(again.ended.result) == bytes(told[-1].result)

    run(tmp_path, body)


def test_what_is_known_of_a_result_is_told_before_the_whole(tmp_path: Path) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        job = pool.submit("suggest", project, "a")
        async for message in pool.follow(job.id):
            if message.what == "part":
                break
        found = msgspec.json.decode(bytes(message.result))
        assert message.what == "part"
        assert found["items"]
        assert job.ended is None
        pool.cancel(job.id)

    run(tmp_path, body)


def test_the_newest_of_a_line_wins(tmp_path: Path) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        first = pool.submit("simulate", make_long(project), "a")
        await wait_for_progress(pool, first)
        same = pool.submit("simulate", make_long(project), "a")
        assert same is first
        others = [pool.submit("bound", project, line) for line in "bc"]
        replaced = pool.submit("check", project, "a")
        newer = pool.submit(
            "simulate", replace(project, simulate=SimulateSettings(rounds=50, runs=1)), "a"
        )

        assert (await wait(first)).what == "stopped"
        assert (await wait(replaced)).what == "stopped"
        for job in (*others, newer):
            assert (await wait(job)).what == "result"

    run(tmp_path, body)


def test_a_job_that_nobody_follows_any_more_makes_room(tmp_path: Path) -> None:
    """A page that is reloaded, or closed, does not keep the workers for itself."""

    async def body(pool: JobPool, project: Project) -> None:
        job = pool.submit("simulate", make_long(project), "a")
        messages = pool.follow(job.id)
        async for message in messages:
            if message.words != "begin":
                break
        assert job.followers == 1
        await messages.aclose()  # type: ignore[attr-defined]

        assert (await wait(job)).what == "stopped"
        other = pool.submit("identify", project, "b")
        assert [message async for message in pool.follow(other.id)][-1].what == "result"

    run(tmp_path, body, patience=0)


def test_a_job_is_worked_on_while_somebody_follows_it(tmp_path: Path) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        job = pool.submit("bound", project, "a")
        told = [message async for message in pool.follow(job.id)]

        assert told[-1].what == "result"

    run(tmp_path, body, patience=0)


def test_cancel_ends_the_work_at_once_and_the_next_is_done(tmp_path: Path) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        job = pool.submit("simulate", make_long(project), "a")
        await wait_for_progress(pool, job)
        (worker,) = pool._workers
        waiting = pool.submit("check", project, "b")
        pool.cancel(waiting.id)
        pool.cancel(job.id)
        pool.cancel(job.id)

        assert (await wait(job)).what == "stopped"
        assert (await wait(waiting)).what == "stopped"
        assert (await wait(pool.submit("identify", project, "a"))).what == "result"
        assert worker.ending == -signal.SIGKILL
        assert worker not in pool._workers

    run(tmp_path, body)


def test_a_worker_that_dies_is_an_honest_error_and_is_replaced(tmp_path: Path) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        job = pool.submit("simulate", make_long(project), "a")
        await wait_for_progress(pool, job)
        (worker,) = pool._workers
        os.kill(worker._process.pid, signal.SIGKILL)
        ended = await wait(job)

        assert ended.what == "error"
        assert ended.error is not None
        assert ended.error.code == "worker_died"
        assert "signal 9" in ended.error.message
        assert "memory" in ended.error.message
        assert ended.error.hint
        assert (await wait(pool.submit("identify", project, "a"))).what == "result"

    run(tmp_path, body)


def test_a_worker_that_cannot_begin_fails_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        monkeypatch.setattr("sys.executable", "/bin/false")
        ended = await wait(pool.submit("identify", project, "a"))

        assert ended.error is not None
        assert ended.error.code == "worker_died"
        assert "code" in ended.error.message

    run(tmp_path, body)


def test_what_the_library_refuses_is_told_with_its_place(tmp_path: Path) -> None:
    async def body(pool: JobPool, project: Project) -> None:
        gone = replace(project, data=replace(project.data, file="gone.csv"))
        ended = await wait(pool.submit("bound", gone, "a"))

        assert ended.error is not None
        assert (ended.error.where, ended.error.code) == ("data.file", "not_found")
        bins = replace(project, data=replace(project.data, bins={"Age": (1.0,)}))
        ended = await wait(pool.submit("bound", bins, "a"))
        assert ended.error is not None
        assert ended.error.where == "data.bins.Age" or "Age" in ended.error.message

    run(tmp_path, body)


def test_an_unknown_job_is_refused(tmp_path: Path) -> None:
    async def body(pool: JobPool, _: Project) -> None:
        with refused("not_found"):
            pool.cancel("nix")
        with refused("not_found"):
            pool.find("nix")

    run(tmp_path, body)


def test_a_key_hangs_on_what_is_asked_and_on_the_file_alone(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    project = open_example("pharmacy", folder)
    key = make_key("bound", project, folder)
    moved = replace(project.graph.nodes[0], x=1.0)
    nodes = (moved, *project.graph.nodes[1:])

    assert make_key("bound", replace(project, name="other"), folder) == key
    graph = replace(project.graph, nodes=nodes, text=None)
    assert make_key("bound", replace(project, graph=graph), folder) == key
    assert make_key("bound", make_long(project), folder) == key
    assert make_key("simulate", make_long(project), folder) != make_key(
        "simulate", project, folder
    )
    assert make_key("check", project, folder) != key
    asked = replace(project, settings=replace(project.settings, confidence=0.9))
    assert make_key("bound", asked, folder) != key
    with folder.find(str(project.data.file)).open("a") as file:
        file.write("older,mild,call,1,1\n")
    assert make_key("bound", project, folder) != key


def answer(folder: Folder, order: JobOrder) -> tuple[JobMessage, list[JobMessage]]:
    """Let a worker answer one order; what it told on the way comes too."""
    out = io.BytesIO()
    ended = Worker(folder, io.BytesIO(), out)._answer(order)
    told = [msgspec.json.decode(line, type=JobMessage) for line in out.getvalue().splitlines()]
    return ended, told


def test_a_process_answers_and_ends_with_its_input(tmp_path: Path) -> None:
    project = open_example("pharmacy", Folder(tmp_path))
    order = msgspec.json.encode(JobOrder("j", "identify", project)) + b"\n"
    with subprocess.Popen(
        [sys.executable, "-m", "boundit.studio.worker", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(order)
        process.stdin.flush()
        told = list[JobMessage]()
        while not told or told[-1].what not in {"result", "error"}:
            told.append(msgspec.json.decode(process.stdout.readline(), type=JobMessage))
        process.stdin.close()
        assert process.wait(300) == 0
    assert told[0].what == "ready"
    assert told[-1].what == "result"


@pytest.mark.parametrize(
    ("raised", "code"),
    [(MemoryError(), "out_of_memory"), (ZeroDivisionError("x"), "bug")],
)
def test_whatever_goes_wrong_is_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception, code: str
) -> None:
    def fail(_: AskedProject, __: CountKeeper, ___: Progress) -> None:
        raise raised

    monkeypatch.setattr(module, "ANSWERS", {**ANSWERS, "check": fail})
    ended, _ = answer(Folder(tmp_path), JobOrder("j", "check"))

    assert ended.what == "error"
    assert ended.error is not None
    assert ended.error.code == code


def test_a_job_that_is_not_wanted_stops_at_its_next_word(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    worker = Worker(folder, io.BytesIO(), io.BytesIO())
    worker._stopped.add("j")

    ended = worker._answer(JobOrder("j", "bound", open_example("pharmacy", folder)))
    assert ended.what == "stopped"


def test_what_is_refused_is_told_with_its_place(tmp_path: Path) -> None:
    ended, told = answer(Folder(tmp_path), JobOrder("j", "bound"))

    assert [message.words for message in told] == ["begin"]
    assert ended.error is not None
    assert (ended.error.where, ended.error.message) == ("graph", ended.error.message)


def test_a_worker_tells_that_it_is_ready_and_that_it_ended(tmp_path: Path) -> None:
    async def main() -> None:
        told = asyncio.Queue[JobMessage | None]()
        worker = WorkerProcess(tmp_path, lambda _, message: told.put_nowait(message))
        async with asyncio.timeout(PATIENCE):
            first = await told.get()
            assert first is not None
            assert first.what == "ready"
            worker.kill()
            assert await told.get() is None
        assert worker.ending == -9
        worker.order(JobOrder(stop="j"))  # nobody hears, and nothing is raised

    asyncio.run(main())

import io
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from boundit.core.long_work import Progress
from boundit.studio.answers.bound import CountKeeper
from boundit.studio.asked import AskedProject
from boundit.studio.examples import open_example
from boundit.studio.folder import Folder
from boundit.studio.jobs import worker as module
from boundit.studio.jobs.worker import ANSWERS, JobMessage, JobOrder, Worker


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
        [sys.executable, "-m", "boundit.studio.jobs.worker", str(tmp_path)],
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

"""A worker: a process that answers one job at a time, and hears when it is to stop.

``python -m boundit.studio.worker FOLDER`` reads jobs as lines of JSON from its standard
input and writes what happens as lines of JSON. When its input ends, so does it.
"""

import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct

from boundit.core.errors import BounditError
from boundit.core.long_work import Progress
from boundit.studio.answers import (
    CountKeeper,
    answer_bound,
    answer_check,
    answer_identify,
    answer_report,
)
from boundit.studio.ask import AskedProject, refuse
from boundit.studio.errors import Refusal, describe_bug
from boundit.studio.folder import Folder
from boundit.studio.look import answer_look, answer_match
from boundit.studio.project import Project
from boundit.studio.whatif import (
    JobProgress,
    answer_help,
    answer_simulate,
    answer_stress,
    answer_suggest,
)

JobKind: TypeAlias = Literal[
    "look",
    "match",
    "bound",
    "identify",
    "check",
    "help",
    "stress",
    "suggest",
    "simulate",
    "report",
]
ANSWERS: Mapping[JobKind, Callable[[AskedProject, CountKeeper, Progress], Any]] = {
    "look": answer_look,
    "match": answer_match,
    "bound": answer_bound,
    "identify": answer_identify,
    "check": answer_check,
    "help": answer_help,
    "stress": answer_stress,
    "suggest": answer_suggest,
    "simulate": answer_simulate,
    "report": answer_report,
}
"""What answers each kind of job."""
_SACRIFICE = "500"
"""How gladly the system ends a worker where memory is short, rather than the server."""
_OUT_OF_MEMORY = Refusal(
    "out_of_memory",
    "this takes more memory than there is",
    hint="Ask of fewer contexts, or cut numbers into fewer bins.",
)


class JobOrder(Struct, frozen=True):
    """What a worker is asked to do; ``stop`` names a job that is not wanted any more."""

    id: str = ""
    kind: JobKind = "bound"
    project: Project = Project()
    stop: str = ""


class JobMessage(Struct, frozen=True, omit_defaults=True):
    """What a worker tells: that it is ready, how far it is, a result or why there is none.

    A part is a result as far as it is known.
    """

    id: str
    what: Literal["ready", "progress", "part", "result", "error", "stopped"]
    words: str = ""
    done: int = 0
    total: int = 0
    result: Raw = Raw(b"null")
    error: Refusal | None = None


class JobStopped(Exception):
    """Work that is not wanted any more."""


class Worker:
    """The loop of a worker: a thread hears orders, the main one answers them."""

    def __init__(self, folder: Folder, orders: BinaryIO, out: BinaryIO) -> None:
        self._folder, self._orders, self._out = folder, orders, out
        self._waiting: queue.Queue[JobOrder] = queue.Queue()
        self._stopped = set[str]()
        self._keeper = CountKeeper()

    def run(self) -> None:
        """Answer jobs until there are no more to come."""
        threading.Thread(target=self._hear, daemon=True).start()
        self._tell(JobMessage("", "ready"))
        while True:
            order = self._waiting.get()
            self._tell(self._answer(order))
            self._stopped.discard(order.id)

    def _hear(self) -> None:
        """Hear orders as they come; at their end the process ends, whatever it is doing."""
        for line in self._orders:
            order = msgspec.json.decode(line, type=JobOrder)
            if order.stop:
                self._stopped.add(order.stop)
            else:
                self._waiting.put(order)
        os._exit(0)

    def _answer(self, order: JobOrder) -> JobMessage:
        """Answer one job, or say why not."""

        def tell(words: str, done: int, total: int) -> None:
            if order.id in self._stopped:
                raise JobStopped
            self._tell(JobMessage(order.id, "progress", words, done, total))

        def show(part: dict[str, Any]) -> None:
            self._tell(JobMessage(order.id, "part", result=Raw(msgspec.json.encode(part))))

        try:
            tell("begin", 0, 1)
            found = ANSWERS[order.kind](
                AskedProject(order.project, self._folder), self._keeper, JobProgress(tell, show)
            )
            return JobMessage(order.id, "result", result=Raw(msgspec.json.encode(found)))
        except JobStopped:
            return JobMessage(order.id, "stopped")
        except BounditError as error:
            return JobMessage(order.id, "error", error=refuse(error).record())
        except MemoryError:
            self._keeper = CountKeeper()
            return JobMessage(order.id, "error", error=_OUT_OF_MEMORY)
        except Exception as error:  # noqa: BLE001, a bug must be an answer too
            return JobMessage(order.id, "error", error=describe_bug(error).record())

    def _tell(self, message: JobMessage) -> None:
        """Write a message as one line."""
        self._out.write(msgspec.json.encode(message) + b"\n")
        self._out.flush()


def main() -> None:
    """Run a worker of the folder that the command names; what others print goes to stderr."""
    folder = Folder(Path(sys.argv[1]))
    os.chdir(folder.path)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(OSError):  # another system, or not allowed
        Path("/proc/self/oom_score_adj").write_text(_SACRIFICE)
    Worker(folder, sys.stdin.buffer, out).run()


if __name__ == "__main__":
    main()

import asyncio
from pathlib import Path

from boundit.studio.jobs.worker import JobMessage, JobOrder
from boundit.studio.jobs.worker_process import WorkerProcess
from tests.patience import PATIENCE


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

"""The server: one process on this machine's own address, until it is told to stop."""

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from boundit.studio.app import StartToken, make_app
from boundit.studio.calls import Studio, StudioLimits
from boundit.studio.errors import StudioError
from boundit.studio.folder import Folder
from boundit.studio.pool import JobPool
from boundit.studio.project import Project, dump_project

HOST = "127.0.0.1"
_GRACE = 2


class StudioServer:
    """The server of a folder, on a port of this machine alone; port 0 takes any.

    ``link`` is what a browser opens.
    """

    def __init__(
        self,
        folder: Path,
        port: int,
        limits: StudioLimits | None = None,
        *,
        project: Project | None = None,
    ) -> None:
        self._listening = _listen(port)
        place = Folder(folder)
        if project is not None:
            place.save_draft(dump_project(project))
        self.token = StartToken.draw(self._listening.getsockname()[1], place.keep_secret())
        self.link = self.token.link
        self.studio = Studio(place, limits or StudioLimits(), JobPool(place))
        self.server = uvicorn.Server(
            uvicorn.Config(
                make_app(self.studio, self.token),
                loop="asyncio",
                ws="none",
                lifespan="off",
                access_log=False,
                server_header=False,
                log_config=None,
                timeout_graceful_shutdown=_GRACE,
            )
        )

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until SIGTERM or SIGINT; ``ready`` is called once the link can be opened."""
        begin = self.server.startup

        async def startup(sockets: list[socket.socket] | None = None) -> None:
            await begin(sockets)
            if self.server.started:
                ready()

        self.server.startup = startup  # type: ignore[method-assign]
        try:
            with self._listening:
                self.server.run([self._listening])
        finally:
            self.studio.pool.close()


def _listen(port: int) -> socket.socket:
    """Listen on a port of this machine alone, or say why not."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        reason = f"cannot listen on port {port}: {error.strerror or error}"
        raise StudioError("port_taken", f"{reason}; name another with --port") from None
    return listening

"""A real PostgreSQL, as ``.ci/run`` installs it: a server of our own, and fresh databases.

Tests take the fixture ``postgres_url``: the URL of an empty database that is theirs alone. The
server behind it listens on a free port of this machine and keeps its files in a folder of its
own. It starts with the first test that asks and stops with the last; of several processes that
run tests at once, each has its own.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.missing import leave_out

USER, PASSWORD = "boundit", "secret-of-the-tests"
SERVER_USER = "postgres"
"""Whom Debian's package makes for the server, which refuses to run as root."""
_TRIES = 5
QUICK = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off"
"""Settings of a server of which nothing has to survive."""
_SETTINGS = "-c shared_buffers=16MB -c listen_addresses=127.0.0.1"


@dataclass(frozen=True)
class PostgresServer:
    """A server that runs, and how it is reached, stopped, killed and started again."""

    port: int
    folder: Path
    settings: str
    _numbers: Iterator[int] = field(default_factory=count)

    def write_url(self, database: str) -> str:
        """Write the URL of one of its databases."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def make_database(self) -> Iterator[str]:
        """Make an empty database, give its URL, and drop it whoever is still connected."""
        name = f"test_{next(self._numbers)}"
        self._run(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield self.write_url(name)
        finally:
            self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _run(self, command: sql.Composed) -> None:
        with psycopg.connect(self.write_url("postgres"), autocommit=True) as connection:
            connection.execute(command)

    def stop(self) -> None:
        """Stop it as an operator does who does not wait for those connected."""
        _run_program(_require_programs(), "pg_ctl", ["stop", "-D", self.data, "-m", "fast"])

    def kill(self) -> None:
        """Kill all its processes at once."""
        first = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        for pid in [first, *_list_children(first)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while _is_alive(first):
            time.sleep(0.01)
        (self.data / "postmaster.pid").unlink()

    def start(self) -> None:
        """Start it again, where it was."""
        for last in [False] * 50 + [True]:
            try:
                _start_on(_require_programs(), self.folder, self.port, self.settings)
            except RuntimeError:  # what the dead had in memory is not free yet
                if last:
                    raise
                time.sleep(0.1)
            else:
                return

    @property
    def data(self) -> Path:
        """Where its files are."""
        return self.folder / "data"


def _list_children(parent: int) -> list[int]:
    found = list[int]()
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # The name in brackets may hold blanks: what comes after it does not.
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(status.parent.name))
    return found


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def run_server(settings: str = QUICK) -> Iterator[PostgresServer]:
    """Start a server in a new folder, and stop it; skip where there is no PostgreSQL."""
    programs = find_programs()
    if programs is None:
        reason = "no PostgreSQL on this machine; .ci/run installs Debian's package postgresql"
        leave_out(reason)
    # A socket's path may have 107 bytes, and pytest's own folders are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="boundit-pg-"))
    _give_to_server_user(folder)
    with _clean_up_at_the_end(programs, folder):
        _make_cluster(programs, folder)
        yield PostgresServer(_start(programs, folder, settings), folder, settings)


@contextmanager
def _clean_up_at_the_end(programs: Path, folder: Path) -> Iterator[None]:
    """Stop the server and remove its folder, even if the tests are killed.

    A shell waits on a pipe that closes with this block, or with this process.
    """
    script = 'read _; "$0" stop -D "$1/data" -m immediate; rm -rf "$1"'
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", script, programs / "pg_ctl", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # Ctrl-C is not meant for it
        **_choose_user(),
    )
    try:
        yield
    finally:
        keeper.communicate()


def find_programs() -> Path | None:
    """Find the folder of PostgreSQL's programs: Debian keeps them off the path, by version."""
    versions = [p.parent for p in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    on_path = shutil.which("initdb")
    newest = sorted(versions, key=lambda path: int(path.parent.name))
    if newest:
        return newest[-1]
    return None if on_path is None else Path(on_path).resolve().parent


def _give_to_server_user(folder: Path) -> None:
    if os.getuid() == 0:
        shutil.chown(folder, SERVER_USER, SERVER_USER)


def _choose_user() -> dict[str, Any]:
    """Whom programs run as: the server's own user where we are root, which it refuses."""
    if os.getuid() != 0:
        return {}
    return {
        "user": SERVER_USER,
        "group": pwd.getpwnam(SERVER_USER).pw_gid,
        "extra_groups": [],
    }


def _make_cluster(programs: Path, folder: Path) -> None:
    secret = folder / "password"
    secret.write_text(PASSWORD)
    _give_to_server_user(secret)
    options = [f"--username={USER}", f"--pwfile={secret}", "--auth=scram-sha-256"]
    options += ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    _run_program(programs, "initdb", ["-D", folder / "data", *options])


def _require_programs() -> Path:
    found = find_programs()
    assert found is not None
    return found


def _start_on(programs: Path, folder: Path, port: int, settings: str) -> None:
    options = f"-p {port} -k {folder} {_SETTINGS} {settings}"
    log = folder / "server.log"
    _run_program(
        programs, "pg_ctl", ["start", "-w", "-D", folder / "data", "-l", log, "-o", options]
    )


def _start(programs: Path, folder: Path, settings: str) -> int:
    """Start the server on a free port; another process may take it meanwhile, so try again."""
    for last in [False] * (_TRIES - 1) + [True]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        try:
            _start_on(programs, folder, port, settings)
        except RuntimeError as error:
            if last:
                log = (folder / "server.log").read_text()
                raise RuntimeError(f"{error}\n{log}") from None
        else:
            return port
    raise AssertionError


def _run_program(programs: Path, name: str, arguments: Sequence[str | Path]) -> None:
    ran = subprocess.run(
        [programs / name, *arguments],
        **_choose_user(),
        # A pipe that the server inherits would never be closed.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if name == "initdb" else subprocess.DEVNULL,
        cwd="/",
        env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        text=True,
        check=False,
    )
    if ran.returncode:
        raise RuntimeError(f"{name} failed: {ran.stderr}")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a process."""
    with run_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty database, which goes with the test."""
    with postgres_server.make_database() as url:
        yield url

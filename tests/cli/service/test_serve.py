"""``boundit serve`` in a process of its own: it answers, and stops with all on disk."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from boundit.service.engine import Engine
from boundit.service.store.postgres import PostgresStore
from boundit.service.store.sqlite import SqliteStore
from tests.cli.answer import answer
from tests.cli.service.served import Caller, run_serve
from tests.patience import PATIENCE

ARMS = ("--kind", "UCB", "--set", "arms=A,B", "--set", "context=[]")


def test_it_serves_until_it_is_told_to_stop(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    answer(capsys, "policies", "create", "p", *where, *ARMS)
    with run_serve(where) as server:
        _, found = server.ask("GET", "/v1/policies")
        code = server.stop()

    assert [one["name"] for one in found["policies"]] == ["p"]
    assert code == 0


@pytest.mark.full
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_one_of_two_servers_is_stopped_under_load_and_the_other_goes_on(
    kind: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Both answer at once, from one folder or one database; what was answered is there."""
    if kind == "postgres":
        url = str(request.getfixturevalue("postgres_url"))
        where = ("--store", url)
    else:
        where = ("--store", str(tmp_path))
    answer(capsys, "policies", "create", "p", *where, *ARMS)
    with run_serve(where) as one, run_serve(where) as other, ExitStack() as ends:
        callers = [
            Caller(server, f"{i}", patient=True) for i, server in enumerate([one, other] * 2)
        ]
        for caller in callers:
            ends.callback(caller.stop)
        assert all(caller.begun.wait(120) for caller in callers)
        code = one.stop()
        for caller in callers:
            caller.begun.clear()
        assert all(caller.begun.wait(120) for caller in callers[1::2])
        ends.close()
        status, again = other.ask("POST", "/v1/policies/p/decide", {"id": "0-1"})
        last = other.stop()
    store = PostgresStore(url) if kind == "postgres" else SqliteStore(tmp_path)
    with Engine(store) as engine:
        for caller in callers:
            for name in caller.decided:
                found = engine.get_decision("p", name)
                assert (found.status == "learned") >= (name in set(caller.rewarded))
        report = engine.replay("p", decisions=True)

    assert (code, last) == (0, 0)
    assert (status, again["duplicate"]) == (200, True)
    assert {one for caller in callers for one in caller.refused} <= {503}
    assert report.differences == []


@contextmanager
def take_hangups(action: signal.Handlers) -> Iterator[None]:
    """What SIGHUP does to processes that start here: a child inherits whether it is ignored."""
    before = signal.signal(signal.SIGHUP, action)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_terminal_that_is_closed_stops_it_with_all_on_disk(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What came before SIGHUP is answered, even if its body was still on the way."""
    where = ("--store", str(tmp_path))
    answer(capsys, "policies", "create", "p", *where, *ARMS)
    with take_hangups(signal.SIG_DFL), run_serve(where) as server:
        caller = Caller(server, "0", patient=True)
        assert caller.begun.wait(120)
        host, _, port = server.place.partition(":")
        body = b'{"id": "slow"}'
        with socket.create_connection((host, int(port)), timeout=120) as slow:
            slow.sendall(
                b"POST /v1/policies/p/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                b"application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body[:5])
            )
            server.ask("GET", "/readyz")  # by then the other has been heard
            server.process.send_signal(signal.SIGHUP)
            with pytest.raises(subprocess.TimeoutExpired):
                server.process.wait(1)
            slow.sendall(body[5:])
            said = slow.recv(65_536)
        code = server.process.wait(300)
        caller.stop()
    with Engine(SqliteStore(tmp_path)) as engine:
        found = [engine.get_decision("p", name) for name in ["slow", *caller.decided]]
        report = engine.replay("p", decisions=True)

    assert code == 0
    assert said.startswith(b"HTTP/1.1 200 ")
    assert len(found) == len(caller.decided) + 1
    assert report.differences == []


def test_nohup_keeps_it_when_the_terminal_is_closed(tmp_path: Path) -> None:
    with take_hangups(signal.SIG_IGN), run_serve(("--store", str(tmp_path))) as server:
        server.process.send_signal(signal.SIGHUP)
        statuses = [server.ask("GET", "/healthz")[0] for _ in range(20)]
        code = server.stop()

    assert (set(statuses), code) == ({200}, 0)


def test_compiled_code_is_kept_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """Where there is no policy nothing is compiled, and nobody waits for it."""
    folder = tmp_path / "kernels"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    with run_serve(("--store", str(tmp_path / "shop")), environment) as server:
        status, _ = server.ask("GET", "/readyz")
        assert server.stop() == 0

    assert status == 200
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not list(folder.rglob("*decide*.nbc"))


def test_ctrl_c_ends_it_while_it_compiles(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    answer(capsys, "policies", "create", "p", *where, *ARMS)
    with subprocess.Popen(
        [sys.executable, "-m", "boundit", "serve", *where, "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        while not list((tmp_path / "kernels").rglob("ucb*.nbi")):  # it is at it
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()

    assert "compiling UCB" in said
    assert "Traceback" not in rest
    # On a slow machine it serves by then, and others may ask: it stops as ever.
    assert process.returncode in {-signal.SIGINT, 0, 130}


def test_ctrl_c_before_the_server_listens_ends_it(tmp_path: Path) -> None:
    early = (
        "import os, signal, sys, uvicorn\n"
        "from boundit.cli.main import main\n"
        "run = uvicorn.Server.run\n"
        "def interrupt(server):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    run(server)\n"
        "uvicorn.Server.run = interrupt\n"
        "main(['serve', '--store', sys.argv[1], '--port', '0'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", early, str(tmp_path / "shop")],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0


def test_an_address_that_others_reach_is_refused_without_keys(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = answer(
        capsys, "serve", "--store", str(tmp_path / "shop"), "--host", "0.0.0.0", "--port", "0"
    )

    assert code == 2
    assert "boundit keys add" in err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("bodi=1", "Did you mean 'body'?"),
        ("batch", "must be FIELD=VALUE"),
        ("rate=many", "must be a number"),
    ],
)
def test_a_field_that_it_has_not_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: str, said: str
) -> None:
    code, _, err = answer(capsys, "serve", "--store", str(tmp_path / "shop"), "--set", given)

    assert code == 2
    assert said in err
    assert not (tmp_path / "shop").exists()

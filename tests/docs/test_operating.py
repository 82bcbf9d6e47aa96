"""What the page about the service says is done: backups, a proxy, a unit."""

import os
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from boundit.service.keys import add_key
from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore
from boundit.service.store.sqlite import SqliteStore
from boundit.service.verify import replay_policy
from tests.docs.pages import DOCS, read_blocks
from tests.docs.test_commands import find_free_port
from tests.missing import leave_out
from tests.patience import PATIENCE
from tests.postgres import find_programs
from tests.service.http.served import run_server
from tests.service.kit import decide, make_config, reward, run_engine

PAGE = DOCS / "guides" / "service.md"
DATABASE = "postgresql://boundit@db/"


def need(program: str) -> str:
    found = shutil.which(program) or shutil.which(f"/usr/sbin/{program}")
    if found is None:
        leave_out(f"no {program} on this machine; .ci/run installs it")
    return found


def read_lines(*programs: str) -> list[str]:
    """The lines of the page that run one of these programs, in order."""
    lines = [line for block in read_blocks(PAGE) for line in block.text.splitlines()]
    return [line for line in lines if line.split(" ")[0] in programs]


def read_block(first: str) -> str:
    return next(block.text for block in read_blocks(PAGE) if block.text.startswith(first))


@contextmanager
def run_busy(store: Store) -> Iterator[None]:
    """An engine that has decided and learned, and still runs."""
    with run_engine(store, make_config(kind="UCB")) as engine:
        for i in range(40):
            decide(engine, str(i), i % 3)
            reward(engine, str(i), i % 2)
        yield


def test_a_backup_of_a_running_sqlite_store_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("sqlite3")
    monkeypatch.chdir(tmp_path)
    with run_busy(SqliteStore(tmp_path / "shop")):
        for line in read_lines("mkdir", "sqlite3"):
            subprocess.run(shlex.split(line), check=True)
        copy = SqliteStore(tmp_path / "backup")
        report = replay_policy(copy, "ads", decisions=True)
        copy.close()

    assert (report.learned, report.decisions, report.differences) == (40, 40, [])


def test_a_dump_of_a_running_postgres_store_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    programs = find_programs()
    assert programs is not None
    monkeypatch.chdir(tmp_path)
    base, _, name = postgres_url.rpartition("/")
    copied = f"{name}_backup"
    urls = {f"{DATABASE}boundit": postgres_url, f"{DATABASE}backup": f"{base}/{copied}"}
    lines = read_lines("pg_dump", "createdb", "pg_restore")
    assert len(lines) == 3
    with run_busy(PostgresStore(postgres_url)):
        for line in lines:
            words = shlex.split(line)
            words = [copied if word == "backup" else word for word in words]
            for told, own in urls.items():
                words = [word.replace(told, own) for word in words]
            subprocess.run([programs / words[0], *words[1:]], check=True)
        copy = PostgresStore(f"{base}/{copied}")
        report = replay_policy(copy, "ads", decisions=True)
        copy.close()
    drop = ["--maintenance-db", postgres_url, copied]
    subprocess.run([programs / "dropdb", *drop], check=True)

    assert (report.learned, report.decisions, report.differences) == (40, 40, [])


def test_nginx_ends_tls_with_the_block_of_the_page(tmp_path: Path) -> None:
    nginx, openssl = need("nginx"), need("openssl")
    for name in ("key.pem", "cert.pem"):
        (tmp_path / name).touch(mode=0o600)
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=decisions.example.org", "-keyout", tmp_path / "key.pem", "-out",
         tmp_path / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    port, store = find_free_port(), SqliteStore(tmp_path / "shop")
    secret = add_key(store, "shop", ["decide"]).secret
    with run_engine(store, make_config(kind="UCB")) as engine, run_server(engine) as served:
        block = read_block("server {")
        for told, own in (
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("/etc/ssl/decisions.pem", str(tmp_path / "cert.pem")),
            ("/etc/ssl/decisions.key", str(tmp_path / "key.pem")),
            ("127.0.0.1:8000", f"127.0.0.1:{served.port}"),
        ):
            assert told in block
            block = block.replace(told, own)
        with run_nginx(nginx, tmp_path, block):
            known = ask_through(port, {"Authorization": f"Bearer {secret}"})
            unknown = ask_through(port, {})

    assert (known, unknown) == (200, 401)


@contextmanager
def run_nginx(nginx: str, folder: Path, block: str) -> Iterator[None]:
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{place}_temp_path {folder}/{place};" for place in places)
    user = "user root;\n" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/nginx.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}\n{block}\n}}\n"
    )
    command = [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def ask_through(port: str, headers: dict[str, str]) -> int:
    """Ask for a decision by TLS, once the proxy listens; gives the status."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = HTTPSConnection("127.0.0.1", int(port), timeout=PATIENCE, context=context)
        try:
            sent = {"Content-Type": "application/json", **headers}
            path = "/v1/policies/ads/decide"
            connection.request("POST", path, '{"context": {"Age": 1}}', sent)
            return connection.getresponse().status
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the proxy does not listen"
            time.sleep(0.05)
        finally:
            connection.close()


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    verify = need("systemd-analyze")
    text = read_block("[Unit]")
    program = re.search(r"^ExecStart=(\S+)", text, flags=re.MULTILINE)
    assert program is not None
    unit = tmp_path / "boundit.service"
    unit.write_text(text.replace(program[1], sys.executable))
    ran = subprocess.run(
        [verify, "verify", "--man=no", "--recursive-errors=no", unit],
        capture_output=True,
        text=True,
        check=False,
    )

    assert str(unit) not in ran.stderr, ran.stderr
    assert "boundit.service" not in ran.stderr, ran.stderr

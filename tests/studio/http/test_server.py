import socket
from pathlib import Path

import pytest

from boundit.studio.http.server import PortTaken, StudioServer
from tests.patience import PATIENCE
from tests.studio.served import ServedStudio


def test_only_this_machine_is_listened_to(studio: ServedStudio) -> None:
    (served,) = studio.server.server.servers
    assert [found.getsockname()[0] for found in served.sockets] == ["127.0.0.1"]


def test_a_port_that_is_taken_is_refused_in_one_line(
    tmp_path: Path, studio: ServedStudio
) -> None:
    with pytest.raises(PortTaken, match=f"port {studio.port}") as caught:
        StudioServer(tmp_path, studio.port)
    assert "--port" in str(caught.value)


def test_what_is_no_http_is_refused(studio: ServedStudio) -> None:
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        with connection.makefile("rb") as answer:
            assert b"400" in answer.readline()

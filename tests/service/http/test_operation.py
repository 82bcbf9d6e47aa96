"""A call knows the policy of its path."""

from pathlib import Path

from starlette.requests import Request

from boundit.service.engine import Engine
from boundit.service.http.operation import Call
from boundit.service.store.sqlite import SqliteStore


def test_the_policy_is_that_of_the_path(tmp_path: Path) -> None:
    request = Request({"type": "http", "path_params": {"policy": "ads"}, "headers": []})
    with Engine(SqliteStore(tmp_path)) as engine:
        assert Call(engine, request, None).policy == "ads"

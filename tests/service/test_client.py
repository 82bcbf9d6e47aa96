"""The client against a real server: it retries with the same id, and says what was refused."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from boundit.service.client import Client
from boundit.service.errors import ServiceError, Unavailable
from boundit.service.store.sqlite import SqliteStore
from tests.service.http.served import Served, run_server
from tests.service.kit import make_config, make_table, run_engine


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with (
        run_engine(SqliteStore(tmp_path), make_config(kind="UCB")) as engine,
        run_server(engine) as found,
    ):
        yield found


def test_a_visitor_from_decision_to_reward(served: Served) -> None:
    with Client(served.url) as client:
        decision = client.decide("ads", {"Age": 1}, id="v1")
        again = client.decide("ads", {"Age": 1}, id="v1")

        assert (again.arm, again.duplicate, decision.duplicate) == (decision.arm, True, False)
        assert client.learn("ads", decision, 1) == "learned"
        assert client.learn("ads", "v1", 1) == "duplicate"
        assert client.decision("ads", "v1")["learned_reward"] == 1
        assert client.policy("ads")["learned_decisions"] == 1
        assert len(client.propensities("ads")["rows"]) == 3


def test_batches(served: Served) -> None:
    with Client(served.url) as client:
        decisions = client.decide_many("ads", [(0,), (1,), (2,)], ids=["a", "b", "c"])

        assert [one.id for one in decisions] == ["a", "b", "c"]
        assert client.learn_many("ads", decisions, [1, 0, 1]) == ["learned"] * 3


def test_an_export_is_the_bytes_of_a_file(served: Served) -> None:
    with Client(served.url) as client:
        client.learn("ads", client.decide("ads", {"Age": 1}, id="v"), 1)
        text = client.export("ads").decode()
        with pytest.raises(ServiceError, match="no format is named 'xls'"):
            client.export("ads", "xls")

    head, row = text.splitlines()
    assert head == "Age,Ad,Click,decision_id,decided_at,propensity,boundit_adaptive"
    assert row.startswith("1,")
    assert row.endswith(",1")


def test_a_policy_is_created_and_refreshed_from_tables(served: Served) -> None:
    with Client(served.url) as client:
        made = client.create("new", bounds=make_table(), kind="UCB", seed=3)
        fresh = client.refresh("new", make_table(top=0.8))

        assert (made["name"], fresh["bounds_version"]) == ("new", 2)
        assert [one["name"] for one in client.policies()] == ["ads", "new"]


def test_a_refusal_is_an_error_that_says_where(served: Served) -> None:
    with Client(served.url) as client:
        with pytest.raises(ServiceError, match="no decision has the id 'x'") as unknown:
            client.learn("ads", "x", 1)
        with pytest.raises(ServiceError) as row:
            client.decide_many("ads", [{"Age": 0}, {"Age": 77}])

    assert (unknown.value.status, unknown.value.code) == (404, "no_such_decision")
    assert row.value.row == 1
    assert "(row 1)" in str(row.value)


def test_a_lost_answer_is_asked_for_again_under_the_same_id(served: Served) -> None:
    """A proxy passes the first request on and drops its answer."""
    n_asked = 0

    class Dropping(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            nonlocal n_asked
            n_asked += 1
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = served.ask("POST", self.path, body)
            self.close_connection = True
            if n_asked > 1:
                self.send_response(answer.status)
                self.end_headers()
                self.wfile.write(answer.text)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Dropping) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        with Client(f"http://127.0.0.1:{proxy.server_port}") as client:
            decision = client.decide("ads", {"Age": 1})
        proxy.shutdown()
        thread.join(30)

    assert (decision.duplicate, n_asked) == (True, 2)
    assert served.get("/v1/policies/ads").json["position"] == 2


def test_where_nobody_listens_it_gives_up_and_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = Client(f"http://127.0.0.1:{port}", tries=2)
    client._sleep = lambda _: None

    with pytest.raises(Unavailable, match="gave no answer in 2 tries"):
        client.decide("ads")
    with pytest.raises(ServiceError, match="is not an address"):
        Client("127.0.0.1:8000")
    assert repr(client) == f"Client('http://127.0.0.1:{port}')"

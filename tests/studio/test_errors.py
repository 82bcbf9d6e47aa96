from boundit.service.errors import ServiceError
from boundit.studio.errors import StudioError, WrongHost, WrongToken


def test_an_error_says_where_and_what_would_help() -> None:
    error = StudioError("no", where="graph.edges[3]", hint="Draw it.", line=2, column=5)

    assert isinstance(error, ServiceError)
    assert (str(error), error.field, error.hint) == ("no", "graph.edges[3]", "Draw it.")
    assert (error.line, error.column) == (2, 5)


def test_refusals_have_their_status() -> None:
    assert (WrongToken().status, WrongHost(1).status) == (403, 421)
    assert "127.0.0.1:1" in str(WrongHost(1))

from boundit.studio.errors import StudioError
from boundit.studio.http.answers import write_refusal
from boundit.studio.refusals import make_refusal


def test_a_refusal_is_a_record_or_a_sentence() -> None:
    error = StudioError("too many", where="$.graph.nodes", hint="Fewer.", line=1, column=2)

    refusal = make_refusal(error)
    assert (refusal.code, refusal.message, refusal.where) == (
        "refused",
        "too many",
        "graph.nodes",
    )
    assert (refusal.hint, refusal.line, refusal.column) == ("Fewer.", 1, 2)
    assert write_refusal(error, as_text=True).body == b"Too many.\n"
    assert write_refusal(error).status_code == 400


def test_a_long_message_is_cut() -> None:
    assert len(make_refusal(StudioError("x" * 10_000)).message) <= 1_000

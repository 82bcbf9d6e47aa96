import pytest

from boundit.service.commands import (
    DecideBatchRequest,
    DecideRequest,
    PruneRequest,
    RefreshRequest,
    RewardBatchRequest,
    RewardRequest,
    convert_request,
    read_request,
)
from boundit.service.config import PolicyConfig
from boundit.service.errors import MalformedRequest


@pytest.mark.parametrize(
    ("kind", "body", "code", "field", "said"),
    [
        (DecideRequest, '{"contxt": 1}', "unknown_field", "$", "Did you mean 'context'?"),
        (DecideRequest, '{"id": 3}', "wrong_type", "$.id", "expected str"),
        (DecideRequest, '{"context": {"a": [1]}}', "wrong_type", "$.context[...]", "array"),
        (DecideRequest, '{"context": NaN}', "malformed", None, "not JSON"),
        (DecideRequest, "{", "malformed", None, "not JSON"),
        (DecideRequest, "[" * 100_000, "wrong_type", "$", "object"),
        (
            DecideBatchRequest,
            '{"decisions": [{}, {"x": 1}]}',
            "unknown_field",
            "$.decisions[1]",
            "Fields: id, context",
        ),
        (RewardRequest, "{}", "wrong_type", "$", "id"),
        (RewardRequest, '{"id": "a", "reward": true}', "wrong_type", "$.reward", "bool"),
        (RewardBatchRequest, '{"rewards": [{"id": "a", "r": 1}]}', "unknown_field",
         "$.rewards[0]", "reward_id"),
        (RefreshRequest, '{"bounds": 1}', "wrong_type", "$.bounds", "object"),
        (PruneRequest, '{"before": "soon"}', "wrong_type", "$.before", "datetime"),
        (PolicyConfig, '{"name": "a", "kind": "UCT"}', "wrong_type", "$.kind", "UCT"),
    ],
)  # fmt: skip
def test_a_request_that_does_not_fit_says_what_and_where(
    kind: type, body: str, code: str, field: str | None, said: str
) -> None:
    with pytest.raises(MalformedRequest, match=said.replace("[", r"\[")) as caught:
        read_request(kind, body)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert "`" not in str(caught.value)


def test_a_request_is_read_from_json_or_from_python_alike() -> None:
    body = {"id": "a", "context": {"Age": 1}, "arms": ["A", ["B"]]}

    read = read_request(DecideRequest, '{"id":"a","context":{"Age":1},"arms":["A",["B"]]}')

    assert read == convert_request(DecideRequest, body)
    with pytest.raises(MalformedRequest):
        convert_request(DecideRequest, {"id": 1})


def test_broken_text_is_no_json() -> None:
    with pytest.raises(MalformedRequest):
        read_request(DecideRequest, b'{"id": "\xff"}')

"""The document says what the service does."""

from msgspec import structs

from boundit.service.config import PolicyConfig
from boundit.service.http.app import DECLARED
from boundit.service.http.openapi import OPERATIONS, write_document

assert DECLARED
DOCUMENT = write_document("1.2.3")


def test_every_operation_is_in_the_document_with_all_that_it_may_answer() -> None:
    for operation in OPERATIONS:
        written = DOCUMENT["paths"][operation.path][operation.method.lower()]
        expected = {*operation.statuses, *operation.refusals}
        assert set(map(int, written["responses"])) == expected
        assert written["summary"].endswith(".")


def test_names_of_operations_are_unique() -> None:
    names = [operation.name for operation in OPERATIONS]

    assert len(set(names)) == len(names)


def test_every_reference_leads_somewhere() -> None:
    known = set(DOCUMENT["components"]["schemas"])
    found = set[str]()

    def walk(part: object) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                found.add(part["$ref"].rpartition("/")[2])
            for inner in part.values():
                walk(inner)
        if isinstance(part, list):
            for inner in part:
                walk(inner)

    walk(DOCUMENT)
    assert found <= known
    assert {"DecideRequest", "DecideAnswer", "ErrorAnswer"} <= found


def test_requests_are_strict_in_the_document_too() -> None:
    schema = DOCUMENT["components"]["schemas"]["RewardRequest"]

    assert schema["additionalProperties"] is False
    assert schema["required"] == ["id"]


def test_all_that_a_policy_is_created_with_can_be_said_over_http() -> None:
    schema = DOCUMENT["components"]["schemas"]["PolicyConfig"]

    assert set(schema["properties"]) == {part.name for part in structs.fields(PolicyConfig)}
    assert "retention" in DOCUMENT["components"]["schemas"]["PolicyAnswer"]["properties"]


def test_a_pair_is_a_list_of_two_of_one_type() -> None:
    schema = DOCUMENT["components"]["schemas"]["PolicyAnswer"]["properties"]["reward_range"]

    assert (schema["minItems"], schema["maxItems"]) == (2, 2)
    assert schema["items"] == {"type": "number"}
    assert "prefixItems" not in schema

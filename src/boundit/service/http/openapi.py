"""The OpenAPI 3.1 document, made from the operations themselves."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from boundit.service.http.answers import ErrorAnswer
from boundit.service.http.operation import Operation, Parameter, Schema

_REF = "#/components/schemas/{name}"
_EVERYWHERE = (503,)
_WITH_KEY = (401, 403, 429)
_WITH_BODY = (400, 408, 413, 415)
_INTRODUCTION = """\
Policies that decide, learn from late and repeated rewards, and forget nothing that was
acknowledged: an answer of 2xx means that it is on disk. `decide` is idempotent on the id,
`reward` on the id and the reward_id. Every refusal is one line of JSON."""


def write_document(operations: Sequence[Operation], version: str) -> Schema:
    """Write the document; called by ``make_app`` once."""
    types = [kind for one in operations for kind in (one.takes, one.gives) if kind is not None]
    _, components = msgspec.json.schema_components([*types, ErrorAnswer], ref_template=_REF)
    paths: dict[str, Any] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _write_operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "boundit", "version": version, "description": _INTRODUCTION},
        "paths": paths,
        "components": {
            "schemas": _write_pairs_plainly(components),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}, {}],
    }


def _write_pairs_plainly(schema: Any) -> Any:
    """Write a pair of one type as a list of two, as not every reader knows ``prefixItems``."""
    if isinstance(schema, list):
        return [_write_pairs_plainly(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _write_pairs_plainly(part) for name, part in schema.items()}
    parts = found.get("prefixItems")
    if isinstance(parts, list) and all(part == parts[0] for part in parts):
        del found["prefixItems"]
        found["items"] = parts[0]
    return found


def list_refusals(operation: Operation) -> list[int]:
    """List the statuses of all refusals that an operation may answer with."""
    found = {*operation.errors, *_EVERYWHERE}
    if not operation.open:
        found |= set(_WITH_KEY)
    if operation.takes is not None:
        found |= set(_WITH_BODY)
    if operation.is_strict:
        found.add(400)
    return sorted(found)


def _write_operation(operation: Operation) -> Schema:
    """Write one operation of the document; called by ``write_document``."""
    answers = {
        str(status): _write_answer(status, operation) for status in operation.statuses
    } | {str(status): _write_refusal(status) for status in list_refusals(operation)}
    written: Schema = {
        "operationId": operation.name,
        "summary": operation.says,
        "responses": answers,
    }
    if operation.parameters:
        written["parameters"] = [_write_parameter(part) for part in operation.parameters]
    if operation.takes is not None:
        schema = {"$ref": _REF.format(name=operation.takes.__name__)}
        written["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    if operation.open:
        written["security"] = []
    return written


def _write_answer(status: int, operation: Operation) -> Schema:
    """Write an answer that is a success; called by ``_write_operation``."""
    said: Schema = {"description": HTTPStatus(status).phrase}
    if status == HTTPStatus.NOT_MODIFIED:
        return said
    schema: Schema = {}
    if operation.gives is not None:
        schema = {"$ref": _REF.format(name=operation.gives.__name__)}
    return said | {"content": {media: {"schema": schema} for media in operation.media}}


def _write_refusal(status: int) -> Schema:
    """Write a refusal; called by ``_write_operation``."""
    schema = {"$ref": _REF.format(name=ErrorAnswer.__name__)}
    said: Schema = {
        "description": HTTPStatus(status).phrase,
        "content": {"application/json": {"schema": schema}},
    }
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        said["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return said


def _write_parameter(parameter: Parameter) -> Schema:
    """Write a parameter; called by ``_write_operation``."""
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.says,
        "schema": parameter.schema,
    }

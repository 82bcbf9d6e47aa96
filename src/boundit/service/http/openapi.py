"""What the service does over HTTP: operations, declared at their handlers, and the document.

The same declarations make the routes and the OpenAPI 3.1 document, so that neither can say what
the other does not.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from boundit.core.errors import shorten
from boundit.core.names import join_names
from boundit.service.engine import Engine
from boundit.service.errors import MalformedRequest, ServiceError
from boundit.service.keys import Role

JSON = "application/json"
_LONGEST = 1000
"""How long a line of an error is at most: it may show what was sent."""
_REF = "#/components/schemas/{name}"
_INTRODUCTION = """\
Policies that decide, learn from delayed and repeated rewards, and forget nothing that was
acknowledged: an answer of 2xx means that it is on disk. `decide` is idempotent on the id,
`recordReward` on the id and the reward_id. Every refusal is one line of JSON."""
SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
"""Headers of every answer that has not its own."""
encode = msgspec.json.Encoder().encode


class ErrorDetail(Struct, frozen=True):
    """What is wrong: a code for programs, one line for people, the field, and the row."""

    code: str
    message: str
    field: str | None = None
    row: int | None = None


class ErrorAnswer(Struct, frozen=True):
    """The body of every answer that is not a success."""

    error: ErrorDetail


class Call(NamedTuple):
    """One request as a handler gets it; ``shared`` is what all requests of the app share."""

    engine: Engine
    policy: str
    body: Any
    scope: Scope
    shared: Any

    @property
    def request(self) -> Request:
        """The request as Starlette reads it."""
        return Request(self.scope)


Handler: TypeAlias = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query or a header, for the document."""

    name: str
    says: str
    schema: dict[str, Any]
    place: Literal["path", "query", "header"] = "query"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A path and a method: who may call it, what it takes and gives, and who handles it.

    ``refuses`` are the statuses of refusals beside those that all have; ``media`` are the types
    of its answer. One that is ``open`` asks for no key.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    name: str
    summary: str
    handler: Handler
    role: Role | None = None
    takes: type | None = None
    gives: type | None = None
    parameters: Sequence[Parameter] = ()
    refuses: Sequence[int] = ()
    statuses: Sequence[int] = (200,)
    media: Sequence[str] = (JSON,)
    open: bool = False

    @property
    def is_batch(self) -> bool:
        """Whether a refusal names the row of a batch."""
        return self.name.endswith("Batch")

    @property
    def methods(self) -> Sequence[str]:
        """The methods that it answers: with GET also HEAD."""
        return (self.method, "HEAD") if self.method == "GET" else (self.method,)

    @property
    def is_strict(self) -> bool:
        """Whether it takes nothing that the document does not name."""
        return self.path.startswith("/v1/")

    @property
    def refusals(self) -> list[int]:
        """The statuses of all refusals that it may answer with."""
        found = {*self.refuses, 503}
        if "{policy}" in self.path:
            found |= {404, 410}
        if not self.open:
            found |= {401, 403, 429}
        if self.takes is not None:
            found |= {400, 408, 413, 415}
        if self.is_strict:
            found.add(400)
        return sorted(found)

    def require_query(self, query: QueryParams) -> None:
        """Refuse a query with a parameter that is unknown or comes twice.

        Pages, health and metrics take what links and probes add.
        """
        taken = {each.name for each in self.parameters if each.place == "query"}
        seen = set[str]()
        for name, _ in query.multi_items() if self.is_strict else ():
            if name not in taken:
                known = f"There is {join_names(taken)}" if taken else "There is none"
                raise MalformedRequest(
                    f"Unknown parameter {shorten(repr(name), 40)}. {known}.", field="?"
                )
            if name in seen:
                raise MalformedRequest(f"{name} comes more than once", field=f"?{name}")
            seen.add(name)


OPERATIONS = list[Operation]()
"""All operations, in the order of the document."""


def operation(method: Any, path: str, **more: Any) -> Callable[[Handler], Handler]:
    """Declare the operation of a handler: ``record_reward`` is ``recordReward``.

    The first line of its docstring is the summary.
    """

    def declare(handler: Handler) -> Handler:
        first, *rest = handler.__name__.split("_")
        name = first + "".join(part.capitalize() for part in rest)
        says = (handler.__doc__ or "").partition("\n\n")[0]
        OPERATIONS.append(
            Operation(
                method=method,
                path=path,
                name=name,
                summary=" ".join(says.split()),
                handler=handler,
                **more,
            )
        )
        return handler

    return declare


def write_answer(value: Any, status: int = 200) -> Response:
    """Write an answer as JSON."""
    return Response(encode(value), status, SAFE_HEADERS, JSON)


def write_error(error: ServiceError) -> Response:
    """Write a refusal: its status, its line, and the headers that say what would help."""
    field = None if error.field is None else shorten(error.field, _LONGEST)
    detail = ErrorDetail(error.code, shorten(str(error), _LONGEST), field, error.row)
    response = write_answer(ErrorAnswer(detail), error.status)
    response.headers.update(error.headers)
    return response


def write_document(version: str) -> dict[str, Any]:
    """Write the OpenAPI document of all operations."""
    types = [kind for one in OPERATIONS for kind in (one.takes, one.gives) if kind is not None]
    _, components = msgspec.json.schema_components([*types, ErrorAnswer], ref_template=_REF)
    paths: dict[str, Any] = {}
    for one in OPERATIONS:
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


def _write_operation(one: Operation) -> dict[str, Any]:
    path = [
        Parameter(name, f"The {'name of the policy' if name == 'policy' else 'id'}.",
                  {"type": "string"}, "path")
        for name in re.findall(r"{(\w+)}", one.path)
    ]  # fmt: skip
    written: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "responses": {
            **{str(status): _write_success(status, one) for status in one.statuses},
            **{str(status): _write_refusal(status) for status in one.refusals},
        },
        "parameters": [
            {
                "name": each.name,
                "in": each.place,
                "required": each.place == "path",
                "description": each.says,
                "schema": each.schema,
            }
            for each in (*path, *one.parameters)
        ],
    }
    if one.takes is not None:
        content = {JSON: {"schema": {"$ref": _REF.format(name=one.takes.__name__)}}}
        written["requestBody"] = {"required": True, "content": content}
    if one.open:
        written["security"] = []
    return written


def _write_success(status: int, one: Operation) -> dict[str, Any]:
    said: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if status == HTTPStatus.NOT_MODIFIED:
        return said
    schema = {} if one.gives is None else {"$ref": _REF.format(name=one.gives.__name__)}
    return said | {"content": {media: {"schema": schema} for media in one.media}}


def _write_refusal(status: int) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=ErrorAnswer.__name__)}
    said: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {JSON: {"schema": schema}},
    }
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        said["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return said

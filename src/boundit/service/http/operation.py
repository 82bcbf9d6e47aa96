"""What the service does over HTTP: one record for each path and method.

The same records make the routes and the OpenAPI document, so that neither can say what the
other does not.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from boundit.service.engine import Engine
from boundit.service.keys import Role

Schema: TypeAlias = dict[str, Any]


class Call(NamedTuple):
    """One request as a handler gets it: the engine, the request, and its body if it has one."""

    engine: Engine
    request: Request
    body: Any

    @property
    def policy(self) -> str:
        """The name of the policy in the path; read by the handlers."""
        name: str = self.request.path_params["policy"]
        return name


Handler: TypeAlias = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a path or of a query, for the document."""

    name: str
    says: str
    schema: Schema
    place: Literal["path", "query", "header"] = "query"


@dataclass(frozen=True)
class Operation:
    """A path and a method: who may call it, what it takes and gives, and who handles it.

    ``errors`` are the refusals that it may answer with beside those that all have; ``media``
    are the types of its answer.
    """

    method: Literal["GET", "POST"]
    path: str
    name: str
    says: str
    handler: Handler
    role: Role | None = None
    takes: type | None = None
    gives: type | None = None
    parameters: Sequence[Parameter] = ()
    errors: Sequence[int] = ()
    statuses: Sequence[int] = (200,)
    media: Sequence[str] = field(default=("application/json",))
    open: bool = False

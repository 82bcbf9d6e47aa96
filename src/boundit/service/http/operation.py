"""What the service does over HTTP: one record for each path and method.

The same records make the routes and the OpenAPI document, so that neither can say what the
other does not.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from boundit.core.errors import shorten
from boundit.core.names import join_names
from boundit.service.engine import Engine
from boundit.service.errors import MalformedRequest
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

    @property
    def is_strict(self) -> bool:
        """Whether it takes nothing that the document does not name."""
        return self.path.startswith("/v1/")

    def require_query(self, request: Request) -> None:
        """Refuse a query with a parameter that is unknown or comes twice.

        Pages, health and metrics take what links and probes add.
        """
        if not self.is_strict:
            return
        taken = {each.name for each in self.parameters if each.place == "query"}
        for name, values in Counter(
            name for name, _ in request.query_params.multi_items()
        ).items():
            if name not in taken:
                known = f"there is {join_names(taken)}" if taken else "there is none"
                reason = f"there is no parameter {shorten(repr(name), 40)} here; {known}"
                raise MalformedRequest(reason, where="?")
            if values > 1:
                raise MalformedRequest(f"{name} comes {values} times", where=f"?{name}")

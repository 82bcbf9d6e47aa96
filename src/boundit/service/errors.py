"""What the service refuses, and what it cannot do just now.

Each error has the HTTP status that it stands for, a code that programs can read, where in the
request the fault lies (``$.context``), and the row of a batch.

.. code-block:: text

    ServiceError
    ├── MalformedRequest     400  not JSON, an unknown field, a wrong type
    ├── RequestRefused       401, 403, 405, 408, 413, 415, 429  keys, roles, methods, limits
    ├── NotFound             404  no such key or page
    │   ├── NoSuchPolicy
    │   └── NoSuchDecision
    ├── Conflict             409  another policy, decision or reward has the name
    ├── Gone                 410  it was erased
    │   ├── DecisionPruned
    │   └── PolicyDeleted
    ├── Unprocessable        422  well formed, and cannot be meant
    ├── FailedCommand        500  a bug of ours
    └── Unavailable          503  try again
        ├── Compiling
        └── StoreUnavailable
"""

from collections.abc import Mapping

from boundit.core.errors import BounditError, MissingExtra, shorten

_EXTRAS = {
    "httptools": "service",
    "msgspec": "service",
    "prometheus_client": "service",
    "psycopg": "postgres",
    "psycopg_pool": "postgres",
    "starlette": "service",
    "uvicorn": "service",
    "uvloop": "service",
}


class ServiceError(BounditError):
    """Something that the service does not do, with the HTTP status that it stands for."""

    status: int = 500
    code: str = "internal"
    headers: Mapping[str, str]

    def __init__(
        self, message: str, *, code: str = "", field: str | None = None, row: int | None = None
    ) -> None:
        self.code, self.field, self.row = code or self.code, field, row
        self.headers = {}
        super().__init__(message)


class MalformedRequest(ServiceError):
    """A request that is not JSON, has an unknown field, or a value of another type."""

    status = 400
    code = "malformed"


class RequestRefused(ServiceError):
    """A request that this caller may not make, or not in this way."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.status, self.headers = status, headers or {}


class NotFound(ServiceError):
    """Something that is not there."""

    status = 404
    code = "not_found"


class NoSuchPolicy(NotFound):
    """A name that no policy has."""

    code = "no_such_policy"

    def __init__(self, name: str) -> None:
        super().__init__(f"No policy is named {shorten(repr(name), 60)}")


class NoSuchDecision(NotFound):
    """An id that no decision of the policy has."""

    code = "no_such_decision"

    def __init__(self, id: str) -> None:  # noqa: A002, users' word
        super().__init__(f"no decision has the id {shorten(repr(id), 60)}")


class Conflict(ServiceError):
    """Something else was said before under the same name."""

    status = 409
    code = "conflict"


class Gone(ServiceError):
    """Something that was erased."""

    status = 410


class PolicyDeleted(Gone):
    """A policy that was deleted; its name stays taken."""

    code = "policy_deleted"

    def __init__(self, name: str) -> None:
        super().__init__(f"policy {shorten(repr(name), 60)} was deleted")


class DecisionPruned(Gone):
    """A decision that was erased."""

    code = "pruned"

    def __init__(self, id: str) -> None:  # noqa: A002, users' word
        super().__init__(f"decision {shorten(repr(id), 60)} was erased")


class Unprocessable(ServiceError):
    """A request that is well formed and cannot be meant."""

    status = 422
    code = "unprocessable"


class FailedCommand(ServiceError):
    """A bug of ours; the log has its traceback, and nothing of the command was done."""

    code = "bug"

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"a bug of ours ({type(error).__name__}); nothing was changed")


class Unavailable(ServiceError):
    """Something that cannot be done now and may be in ``retry_after`` seconds."""

    status = 503
    code = "unavailable"

    def __init__(self, reason: str, *, code: str = "", retry_after: int = 1) -> None:
        self.reason, self.retry_after = reason, retry_after
        super().__init__(
            f"{reason}; nothing was acknowledged, try again with the same id", code=code
        )
        self.headers = {"Retry-After": str(retry_after)}


class Compiling(Unavailable):
    """A policy of a kind that this process compiles just now; others go on."""

    code = "compiling"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(f"policies of kind {kind} are being compiled", retry_after=5)


class StoreUnavailable(Unavailable):
    """A store that cannot be read or written: locked, full, read-only, gone, not reached."""

    code = "store_unavailable"


def refuse_locked() -> StoreUnavailable:
    """Make the error of a policy that another process writes to all the time."""
    reason = "the policy is being read, or another process holds its row"
    return StoreUnavailable(reason, code="policy_locked")


def name_extra(error: ImportError) -> ImportError | MissingExtra:
    """Turn a failed import into the line that says what to install; others stay as they are.

    >>> name_extra(ImportError(name="msgspec"))
    MissingExtra("This needs msgspec. Install it with: pip install 'boundit[service]'")
    """
    package = str(error.name).partition(".")[0]
    return MissingExtra(package, _EXTRAS[package]) if package in _EXTRAS else error

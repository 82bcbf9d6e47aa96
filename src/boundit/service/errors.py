"""What the service refuses, and what it cannot do just now.

Each error knows the HTTP status that it stands for, a code that programs can read, where in the
request the fault lies (``$.context``), and the row of a batch.

.. code-block:: text

    ServiceError
    ├── MalformedRequest           400  no JSON, an unknown field, a wrong type
    ├── NoSuchPolicy               404
    ├── NoSuchDecision             404
    ├── NoSuchKey                  404
    ├── PolicyExists               409  another policy has the name
    ├── IdTaken                    409  another decision has the id
    ├── RewardDiffers              409  another reward, observation or arm was told before
    ├── DecisionPruned             410  it was erased
    ├── BatchTooLarge              413
    ├── Unprocessable              422  well formed, and cannot be meant
    ├── FailedCommand              500  a bug of ours
    └── Unavailable                503  try again
        ├── QueueFull
        ├── Compiling
        ├── StoreUnavailable
        │   └── PolicyLocked
        └── EngineStopped
"""

from typing import ClassVar

from boundit.core.errors import BounditError, shorten


class ServiceError(BounditError):
    """Something that the service does not do, with the HTTP status that it stands for."""

    status: ClassVar[int] = 500
    code: str = "internal"

    def __init__(
        self, message: str, *, where: str | None = None, row: int | None = None
    ) -> None:
        self.where, self.row = where, row
        super().__init__(message)


class MalformedRequest(ServiceError):
    """A request that is no JSON, has an unknown field, or a value of another type."""

    status = 400
    code = "malformed"

    def __init__(self, reason: str, *, where: str | None = None, code: str = "") -> None:
        self.code = code or self.code
        super().__init__(reason, where=where)


class NoSuchPolicy(ServiceError):
    """A name that no policy has."""

    status = 404
    code = "no_such_policy"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no policy {shorten(repr(name), 60)}")


class NoSuchDecision(ServiceError):
    """An id that no decision of the policy has."""

    status = 404
    code = "no_such_decision"

    def __init__(self, id: str, *, row: int | None = None) -> None:  # noqa: A002, users' word
        self.id = id
        super().__init__(f"no decision has the id {shorten(repr(id), 60)}", row=row)


class NoSuchKey(ServiceError):
    """An id that no key has."""

    status = 404
    code = "no_such_key"

    def __init__(self, id: str) -> None:  # noqa: A002, the word users know
        super().__init__(f"no key has the id {shorten(repr(id), 40)}")


class PolicyExists(ServiceError):
    """A policy of that name was created with another configuration."""

    status = 409
    code = "policy_exists"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"there is a policy {name!r} already, of another configuration; "
            "choose another name, or refresh its bounds"
        )


class IdTaken(ServiceError):
    """A decision under an id that has another context, other arms or another played arm."""

    status = 409
    code = "id_taken"

    def __init__(self, id: str, what: str, *, row: int | None = None) -> None:  # noqa: A002
        self.id = id
        super().__init__(
            f"the id {shorten(repr(id), 60)} was decided with another {what}; "
            "a retry sends what was sent before, a new visitor needs a new id",
            where=f"$.{what}",
            row=row,
        )


class RewardDiffers(ServiceError):
    """A reward, an observation or a played arm that contradicts what was told before."""

    status = 409
    code = "reward_differs"

    def __init__(
        self,
        id: str,  # noqa: A002, the word users know
        what: str,
        known: object,
        found: object,
        *,
        where: str,
        row: int | None = None,
    ) -> None:
        self.id = id
        super().__init__(
            f"{what} of decision {shorten(repr(id), 60)} is {shorten(repr(known), 40)}, "
            f"and now {shorten(repr(found), 40)} was given",
            where=where,
            row=row,
        )


class DecisionPruned(ServiceError):
    """A decision that was erased."""

    status = 410
    code = "pruned"

    def __init__(self, id: str, *, row: int | None = None) -> None:  # noqa: A002, users' word
        self.id = id
        super().__init__(f"decision {shorten(repr(id), 60)} was pruned", row=row)


class BatchTooLarge(ServiceError):
    """More rows in one request than are taken."""

    status = 413
    code = "batch_too_large"

    def __init__(self, n: int, most: int) -> None:
        self.n, self.most = n, most
        super().__init__(f"the batch has {n:,} rows, and {most:,} are taken at once")


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

    def __init__(self, reason: str, *, retry_after: int = 1) -> None:
        self.retry_after = retry_after
        super().__init__(f"{reason}; nothing was acknowledged, try again with the same id")


class QueueFull(Unavailable):
    """More requests wait than the writer can take."""

    code = "queue_full"

    def __init__(self, most: int) -> None:
        super().__init__(f"{most:,} rows wait to be written")


class Compiling(Unavailable):
    """A policy of a kind that this process compiles just now; others go on."""

    code = "compiling"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(f"policies of kind {kind} are being compiled", retry_after=5)


class StoreUnavailable(Unavailable):
    """A store that cannot be read or written: locked, full, read-only, gone, not reached."""

    code = "store_unavailable"


class PolicyLocked(StoreUnavailable):
    """A policy that another process has been writing to all the time, or that is being read."""

    code = "policy_locked"

    def __init__(self) -> None:
        super().__init__("the policy is being read, or another process holds its row")


class EngineStopped(Unavailable):
    """A service that is stopping, or was never started."""

    code = "stopped"

    def __init__(self) -> None:
        super().__init__("the service is stopping", retry_after=5)

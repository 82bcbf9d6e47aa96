"""What the HTTP layer itself refuses, before the engine is asked.

.. code-block:: text

    ServiceError
    ├── NotAuthorized      401  no key, or one that nobody knows
    ├── NotAllowed         403  a key without the role; another site's page
    ├── NoSuchPage         404
    ├── WrongMethod        405
    ├── TooSlow            408  a body that does not arrive
    ├── BodyTooLarge       413
    ├── WrongMediaType     415
    ├── TooManyRequests    429
    └── ExportRuns         503
"""

from collections.abc import Sequence

from boundit.service.errors import ServiceError


class NotAuthorized(ServiceError):
    """A request without a key, or with one that nobody knows."""

    status = 401
    code = "not_authorized"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; send the header Authorization: Bearer KEY")


class NotAllowed(ServiceError):
    """A request that this caller may not make."""

    status = 403
    code = "not_allowed"


class NoSuchPage(ServiceError):
    """A path that the service does not have."""

    status = 404
    code = "no_such_page"

    def __init__(self) -> None:
        super().__init__("there is nothing here; /openapi.json lists what there is")


class WrongMethod(ServiceError):
    """A path that is there, for another method."""

    status = 405
    code = "wrong_method"

    def __init__(self, allowed: Sequence[str]) -> None:
        self.allowed = tuple(allowed)
        super().__init__(f"this path takes {' and '.join(self.allowed)}")


class TooSlow(ServiceError):
    """A body that did not arrive in time."""

    status = 408
    code = "too_slow"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the body did not arrive within {seconds:g} seconds")


class BodyTooLarge(ServiceError):
    """A body of more bytes or values than are taken."""

    status = 413
    code = "body_too_large"

    def __init__(self, most: int, of: str = "bytes") -> None:
        super().__init__(f"the body is larger than {most:,} {of}")


class WrongMediaType(ServiceError):
    """A body that does not say that it is JSON."""

    status = 415
    code = "wrong_media_type"

    def __init__(self) -> None:
        super().__init__(
            "send the body as JSON, with the header Content-Type: application/json"
        )


class TooManyRequests(ServiceError):
    """More rows of one key than are taken in a second."""

    status = 429
    code = "too_many_requests"

    def __init__(self, rate: float, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"this key may send {rate:g} rows a second")


class ExportRuns(ServiceError):
    """An export while another is being written."""

    status = 503
    code = "export_runs"

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"another export is being written; try again in {retry_after} seconds")

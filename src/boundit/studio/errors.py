"""What the studio refuses, with the place in the project that it is about.

.. code-block:: text

    ServiceError
    └── StudioError
        ├── MalformedProject     400  no JSON, an unknown field, a value of another type
        ├── RefusedRequest       422  the library refuses what is asked
        ├── WrongToken           403  no cookie of this run
        ├── WrongHost            421  another name for this machine
        ├── WrongOrigin          403  another site's page
        ├── NoSuchPart           404  a path, a file, an example or a job that is not there
        ├── OutsideFolder        403  a file that is not in the folder
        ├── UploadRefused        400  a name or a kind of file that is not taken
        └── TooMuch              413  more than the studio takes at once
"""

from boundit.service.errors import ServiceError


class StudioError(ServiceError):
    """Something that the studio does not do: where in the project, and what would help."""

    status = 400
    code = "refused"

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.hint, self.line, self.column = hint, line, column
        super().__init__(message, field=where)


class MalformedProject(StudioError):
    """What was sent is no JSON, or does not have the fields that it should."""

    code = "malformed"


class RefusedRequest(StudioError):
    """Something well formed that the library refuses, in its own words."""

    status = 422
    code = "refused"


class WrongToken(StudioError):
    """A request without the cookie that the link of this run sets."""

    status = 403
    code = "no_token"

    def __init__(self) -> None:
        super().__init__("open the link that boundit studio printed when it started")


class WrongHost(StudioError):
    """A request that names another host, as a page would whose name was bound anew."""

    status = 421
    code = "wrong_host"

    def __init__(self, port: int) -> None:
        super().__init__(f"ask for 127.0.0.1:{port} or localhost:{port}, nothing else")


class WrongOrigin(StudioError):
    """A request that another site's page sent."""

    status = 403
    code = "wrong_origin"

    def __init__(self) -> None:
        super().__init__("a page of another site may not ask")


class NoSuchPart(StudioError):
    """Something that is not there."""

    status = 404
    code = "not_there"


class OutsideFolder(StudioError):
    """A name that leads out of the folder."""

    status = 403
    code = "outside_folder"


class UploadRefused(StudioError):
    """A file that is not taken."""

    code = "upload_refused"


class TooMuch(StudioError):
    """More than the studio takes at once."""

    status = 413
    code = "too_much"

"""What the studio refuses: one line, the part of the project it is about, what would help."""

from msgspec import Struct

from boundit.core.errors import BounditError, shorten

STATUS = {
    "malformed": 400,
    "upload_refused": 400,
    "cancelled": 400,
    "no_token": 403,
    "wrong_origin": 403,
    "outside_folder": 403,
    "not_found": 404,
    "wrong_method": 405,
    "timeout": 408,
    "port_taken": 409,
    "too_much": 413,
    "wrong_media_type": 415,
    "wrong_host": 421,
    "refused": 422,
    "bug": 500,
    "worker_died": 500,
    "out_of_memory": 507,
}
"""The HTTP status of every code."""
_LONGEST = 1_000


class Refusal(Struct, frozen=True):
    """An error as the page reads it."""

    code: str
    message: str
    where: str | None = None
    hint: str | None = None
    line: int | None = None
    column: int | None = None


class StudioError(BounditError):
    """Something that the studio refuses: where in the project, and what would help."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.code, self.where, self.hint, self.line, self.column = (
            code,
            where,
            hint,
            line,
            column,
        )
        super().__init__(message)

    @property
    def status(self) -> int:
        """The HTTP status that the error stands for."""
        return STATUS[self.code]

    def record(self) -> Refusal:
        """Write the error for the page; a message may quote what was sent, so it is cut."""
        where = self.where
        if where is not None:  # wherever in a body the project is
            where = shorten(where.removeprefix("$.").removeprefix("project."), _LONGEST)
        message = shorten(str(self), _LONGEST)
        return Refusal(self.code, message, where, self.hint, self.line, self.column)


def describe_bug(error: BaseException) -> StudioError:
    """Say that a fault is ours."""
    name = type(error).__name__
    return StudioError("bug", f"a bug of ours ({name}: {error}); nothing was changed")

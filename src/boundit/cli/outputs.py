"""What a command prints and writes: answers on stdout, everything beside them on stderr.

Files are refused before any work is done, and told of when they are there.
"""

import json
import math
import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.core.errors import hide_password

if TYPE_CHECKING:
    from boundit.report.pages.answer_page import AnswerPage

INPUTS = "boundit.inputs"
"""Where a context keeps the files that arguments were read from so far."""
_FIGURES = (".png", ".svg")
_COLOURS = {
    "error": "red",
    "critical": "red",
    "assumes": "yellow",
    "skipped": "yellow",
    "caveat": "yellow",
    "note": "yellow",
    "wrote": "green",
}


class OutputFile(click.Path):
    """A file to write: its suffix fits its content, and its folder is there."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.suffixes = suffixes

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Refuse the name of an output file by its ending or folder, before any work is done.

        So is a figure where matplotlib is missing.
        """
        path = Path(value)
        if path.suffix.lower() not in self.suffixes:
            ends = " or ".join(self.suffixes)
            self.fail(f"{str(path)!r} must be a file whose name ends in {ends}", param, ctx)
        if not path.parent.is_dir():
            place = str(path.parent)
            self.fail(f"cannot write {str(path)!r}: there is no folder {place!r}", param, ctx)
        if path.suffix.lower() in _FIGURES:
            from boundit.report.figures.canvas import require_matplotlib  # noqa: PLC0415, quick --help

            require_matplotlib()
        return super().convert(value, param, ctx)


def refuse_overwriting(context: click.Context, inputs: Iterable[str]) -> None:
    """Refuse to write over a file that the same command reads.

    The files of arguments are known.
    """
    paths = [*context.meta.get(INPUTS, []), *inputs]
    read = [Path(path) for path in paths if Path(path).exists()]
    for option in context.command.params:
        path = context.params.get(str(option.name))
        if not isinstance(option.type, OutputFile) or path is None or not path.exists():
            continue
        if any(path.samefile(other) for other in read):
            raise click.UsageError(
                f"{option.opts[0]} would write over {str(path)!r}, which this command reads; "
                "name another file"
            )


def notify_written(path: object) -> None:
    """Say on stderr where a file was written, so that an answer on stdout can be piped on."""
    notify("wrote", str(path))


def spell_command() -> str:
    """Write the command that runs as a shell would have it, without passwords."""
    return hide_password(shlex.join(["boundit", *sys.argv[1:]]))


def write_answer(path: Path, page: "AnswerPage") -> None:
    """Write the page of an answer, with the command that repeats it, and say where it is."""
    from boundit.core.files import write_page  # noqa: PLC0415
    from boundit.report.pages.answer_page import write_answer_page  # noqa: PLC0415, quick --help

    write_page(path, write_answer_page(page, command=spell_command()))
    notify_written(path)


def notify(what: str, message: str) -> None:
    """Print a remark beside the answer on stderr, its kind (error, note) in colour.

    A password in it is hidden. Called for errors by ``_print_refusal``, for caveats by
    ``_print_table``, and for files by ``notify_written``.
    """
    colour = False if os.environ.get("NO_COLOR") else None
    mark = "" if what == "wrote" else ":"
    head = click.style(f"{what}{mark}", fg=_COLOURS[what])
    click.echo(f"{head} {hide_password(message)}", err=True, color=colour)


def print_json(record: object) -> None:
    """Print the answer of a command as one line of JSON."""
    click.echo(write_json(record))


def write_json(record: object) -> str:
    """Write an object as JSON; numbers that JSON lacks, such as ``nan``, become null.

    >>> write_json({"width": float("nan")})
    '{"width": null}'
    """
    return json.dumps(_replace_nan(record), ensure_ascii=False, allow_nan=False)


def _replace_nan(found: object) -> object:
    """Replace numbers that JSON lacks by None, in lists and mappings of any depth."""
    match found:
        case float() if not math.isfinite(found):
            return None
        case dict():
            return {key: _replace_nan(value) for key, value in found.items()}
        case list() | tuple():
            return [_replace_nan(value) for value in found]
        case _:
            return found

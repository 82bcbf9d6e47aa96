"""What a command prints and writes: answers on stdout, everything beside them on stderr.

Files are refused before any work is done, and named when they are written. Options of the
library in errors and caveats are spelled as flags.
"""

import json
import math
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.bounds.options import OPTIONS, spell_flag
from boundit.core.errors import hide_password
from boundit.core.long_work import Progress, say_nothing
from boundit.core.message import Caveat, Message, Note, Option

if TYPE_CHECKING:
    from boundit.report.page import Page
    from boundit.results.bound_table import BoundTable

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
            from boundit.report.plot import require_matplotlib  # noqa: PLC0415, quick --help

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


def write_with_flags(note: Note) -> str:
    """Write an error or caveat of the library as text, with its options as flags.

    >>> bins, domain = Option("bins", {"Age": ["..."]}), Option("domain")
    >>> write_with_flags(Message("cut it with ", bins, ", or declare others with ", domain))
    'cut it with --bins Age=..., or declare others with --domain'
    """
    if isinstance(note, Caveat):
        return note.spell(_spell)
    return note.render(_spell) if isinstance(note, Message) else note


def spell_caveats(table: "BoundTable") -> "BoundTable":
    """Give a table of bounds whose caveats write options as flags."""
    return replace(table, caveats=tuple(caveat.spell(_spell) for caveat in table.caveats))


def _spell(option: Option) -> str:
    """Write an option as a flag if some command has it; else as Python does."""
    known = {name for name, of in OPTIONS.items() if of.flag}
    context = click.get_current_context(silent=True)
    if context is not None:
        commands = [context.find_root().command]
        while commands:
            command = commands.pop()
            known.update(str(parameter.name) for parameter in command.params)
            if isinstance(command, click.Group):
                commands += command.commands.values()
    return spell_flag(option) if option.name in known else str(option)


@contextmanager
def show_steps(label: str = "") -> Iterator[Progress]:
    """Show on stderr what is being done, and how far it has come, while a ``with`` runs.

    >>> with show_steps() as tell:
    ...     tell("count 12 columns", 0, 1)
    """
    if not sys.stderr.isatty():
        yield say_nothing
        return
    from rich.console import Console  # noqa: PLC0415, keeps --help quick
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(escape(label), total=None)

        def tell(step: str, done: int, of: int) -> None:
            bar.update(task, description=escape(step), completed=done, total=of)

        yield tell


def notify_written(path: object) -> None:
    """Say on stderr where a file was written, so that an answer on stdout can be piped on."""
    notify("wrote", str(path))


def spell_command() -> str:
    """Write the command that runs as a shell would have it, without passwords."""
    return hide_password(shlex.join(["boundit", *sys.argv[1:]]))


def write_answer(path: Path, page: "Page") -> None:
    """Write the page of an answer, with the command that repeats it, and say where it is."""
    from boundit.core.files import write_page  # noqa: PLC0415

    write_page(path, page.write(command=spell_command()))
    notify_written(path)


def notify(what: str, message: str) -> None:
    """Print a remark beside the answer on stderr, its kind (error, note) in colour.

    A password in it is hidden.
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

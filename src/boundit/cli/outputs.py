"""Files that a command writes: refused before any work is done, told of when they are there."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from boundit.cli.options import say


class Target(click.Path):
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
        """Refuse a name or a place that would not do."""
        path = Path(value)
        if path.suffix.lower() not in self.suffixes:
            ends = " or ".join(self.suffixes)
            self.fail(f"{str(path)!r} must be a file whose name ends in {ends}", param, ctx)
        if not path.parent.is_dir():
            place = str(path.parent)
            self.fail(f"cannot write {str(path)!r}: there is no folder {place!r}", param, ctx)
        return super().convert(value, param, ctx)


def keep_apart(context: click.Context, inputs: Iterable[str]) -> None:
    """Refuse to write over a file that the same command reads."""
    read = [Path(path) for path in inputs if Path(path).exists()]
    for option in context.command.params:
        path = context.params.get(str(option.name))
        if not isinstance(option.type, Target) or path is None or not path.exists():
            continue
        if any(path.samefile(other) for other in read):
            raise click.UsageError(
                f"{option.opts[0]} would write over {str(path)!r}, which this command reads; "
                "name another file"
            )


def wrote(path: object) -> None:
    """Say where something is now; on stderr, so that an answer can be piped on."""
    say("wrote", str(path))

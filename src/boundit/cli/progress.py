"""Progress on anything longer than a second: to stderr, and only on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Advance: TypeAlias = Callable[[int, int], None]
"""Hears how much is done, and of how much."""


@contextmanager
def show_progress(label: str) -> Iterator[Advance]:
    """Show a progress bar on stderr while the body of a ``with`` runs.

    Gives the body a function to call with how much is done, of how much. Entered by every
    command that may take longer than a second.

    >>> with show_progress("runs") as advance:
    ...     advance(1, 10)
    """
    if not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console  # noqa: PLC0415, keeps --help quick
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)

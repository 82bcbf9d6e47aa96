"""Progress on anything longer than a second: to stderr, and only on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from boundit.core.long_work import Progress, say_nothing

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
    with show_steps(label) as tell:
        yield lambda done, of: tell(label, done, of)


@contextmanager
def show_steps(label: str = "") -> Iterator[Progress]:
    """Show on stderr what is being done, and how far it has come, while a ``with`` runs.

    Gives the body a function to call with the step, how much of it is done, and of how much.
    Entered by ``bound``, whose steps differ, and by ``show_progress``.

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
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(escape(label), total=None)

        def tell(step: str, done: int, of: int) -> None:
            bar.update(task, description=escape(step), completed=done, total=of)

        yield tell

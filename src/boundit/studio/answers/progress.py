"""Who hears how far an answer has come, and what of it is known already."""

from collections.abc import Callable

from msgspec import Struct

from boundit.core.long_work import Progress


class JobProgress:
    """Hears of progress as any ``Progress`` does, and of parts of an answer that can be shown."""

    def __init__(self, tell: Progress, show: Callable[[Struct], None]) -> None:
        self._tell, self._show = tell, show

    def __call__(self, step: str, done: int, of: int) -> None:
        """Hear what is being done; every answer calls it."""
        self._tell(step, done, of)

    def show(self, answer: Struct) -> None:
        """Hear an answer as far as it is known."""
        self._show(answer)


def show_part(progress: Progress, answer: Struct) -> None:
    """Show a part of an answer to whoever wants parts."""
    if isinstance(progress, JobProgress):
        progress.show(answer)

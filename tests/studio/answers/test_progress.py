from msgspec import Struct

from boundit.core.long_work import say_nothing
from boundit.studio.answers.progress import JobProgress, show_part


class Part(Struct, frozen=True):
    n: int


def test_parts_are_shown_to_whoever_wants_them() -> None:
    steps, parts = list[tuple[str, int, int]](), list[Struct]()
    progress = JobProgress(lambda *step: steps.append(step), parts.append)

    progress("count", 1, 2)
    show_part(progress, Part(3))
    show_part(say_nothing, Part(4))

    assert steps == [("count", 1, 2)]
    assert parts == [Part(3)]

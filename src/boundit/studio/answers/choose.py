"""Which arm, or which lottery, to use in each context: what ``boundit decide`` says."""

from msgspec import Struct

from boundit.core.long_work import Progress
from boundit.studio.answers.bound import ContextUse, CountKeeper, derive, describe_choice
from boundit.studio.ask import AskedProject


class ChooseAnswer(Struct, frozen=True):
    """What to use in each context, and how surely."""

    choice: tuple[ContextUse, ...]
    sure: str
    caveats: tuple[str, ...]


def answer_choose(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> ChooseAnswer:
    """Choose an arm or a lottery in every context.

    A worker finds it in ``ANSWERS`` for the kind "choose".
    """
    table = derive(asked, keeper, progress)
    found = table.choose()
    return ChooseAnswer(describe_choice(found), found.sure, tuple(map(str, table.caveats)))

"""What to use where, as the part of a page that comes first: one sentence or two a context."""

from dataclasses import dataclass
from typing import ClassVar

from boundit.report.text.lettering import format_level
from boundit.report.text.mathml import draw_line
from boundit.results.choice import MOST_SENTENCES, Choice, write_promise

_MEANING = (
    "How far an arm is below the highest mean is its regret. Where arms are drawn, it is the "
    "mean over the draw."
)
_FEW = 3
"""Up to how many contexts need no summary."""


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """The answer for one context: which it is, and what to use in it, in words."""

    where: str
    words: str


@dataclass(frozen=True, slots=True)
class ChoiceSection:
    """What to use in each context, and how sure that is."""

    kind: ClassVar[str] = "choice"
    title: str
    summary: str
    answers: tuple[ContextAnswer, ...]
    sure: str


def make_choice_section(choice: Choice, *, title: str = "Highest mean") -> ChoiceSection:
    """Make the section that says what to use in each context, or in most where there are many."""
    found = list(choice.values())
    worst = sorted(found, key=lambda one: -one.max_regret)
    shown = found if len(found) <= MOST_SENTENCES else worst[:MOST_SENTENCES]
    answers = tuple(
        ContextAnswer(
            ", ".join(
                f"{format_level(name)}={format_level(value)}"
                for name, value in zip(choice.context, one.context, strict=True)
            ),
            str(draw_line(" ".join([one.summary, *one.marks]))),
        )
        for one in shown
    )
    sure = choice.sure[:1].upper() + choice.sure[1:]
    return ChoiceSection(title, _summarise(choice), answers, f"{sure}. {_MEANING}")


def _summarise(choice: Choice) -> str:
    """Say in a sentence or two how many contexts are settled, where there are several."""
    found = list(choice.values())
    if len(found) <= _FEW:
        return ""
    settled = sum(one.against is None for one in found)
    drawn = sum(one.arm is None for one in found)
    said = [
        f"In {settled:,} of {len(found):,} contexts one arm has the highest mean, whatever is "
        "true.",
        f"In {drawn:,} a randomized choice has a smaller maximum regret than any one arm."
        if drawn
        else "",
        f"The largest regret at worst is {write_promise(max(one.max_regret for one in found))}.",
    ]
    if len(found) > MOST_SENTENCES:
        said.append(f"Listed are the {MOST_SENTENCES} contexts with the largest.")
    return " ".join(filter(None, said))

"""What to use in each context, in a notebook."""

from boundit.report.notebook.snippet import (
    MOST_ROWS,
    describe_cut,
    write_notes,
    write_snippet,
    write_table,
    write_words,
)
from boundit.report.text.lettering import format_level
from boundit.results.choice import MOST_DRAWN, Choice, ContextChoice, cut_lottery, write_promise
from boundit.results.text import write_arm


def show_choice(choice: Choice) -> str:
    """Write a choice as HTML for a notebook, a row for each context."""
    found = list(choice.values())
    rows = [
        (
            *map(format_level, one.context),
            _write_lottery(choice, one),
            write_promise(one.regret),
            write_arm(choice.treatments, one.single),
            write_promise(one.single_regret),
        )
        for one in found[:MOST_ROWS]
    ]
    head = [*map(format_level, choice.context), "arm", "regret at most"]
    head += ["single arm", "its regret"]
    wide = len(choice.context)
    return write_snippet(
        f"Highest mean of {choice.outcome}, by {choice.rule}",
        write_table(head, rows, caption=choice.sure, right=(wide + 1, wide + 3)),
        write_words(describe_cut(len(rows), len(found), "choice.frame()")),
        write_notes("In words", [choice.write_answer(one) for one in found[:MOST_ROWS]]),
    )


def _write_lottery(choice: Choice, one: ContextChoice) -> str:
    """Write the arm to use, or arms with their chances."""
    shown, left = cut_lottery(one.lottery, MOST_DRAWN)
    named = [(write_arm(choice.treatments, arm), chance) for arm, chance in shown.items()]
    if len(one.lottery) == 1:
        return named[0][0]
    more = [(f"{len(left)} more", sum(left.values()))] if left else []
    return "; ".join(f"{name} with chance {chance:.3g}" for name, chance in [*named, *more])

"""What can be known exactly, in a notebook: the formula as it is written by hand."""

from boundit.core.names import join_names
from boundit.estimand.derivation import Identification
from boundit.estimand.notation import make_sentence
from boundit.report.notebook.snippet import write_notes, write_snippet, write_words
from boundit.report.text.mathml import draw_line


def show_recovery(found: Identification) -> str:
    """Write a recovery as HTML for a notebook: the formula or why there is none, and the steps."""
    steps = write_notes("Steps", [step.sentence for step in found.steps], ordered=True)
    if found.expression is None:
        said = str(found)
        return write_snippet(f"{said[:1].upper()}{said[1:]}", steps)
    formula = draw_line(make_sentence(found.expression))
    free = f"For any value of {join_names(found.arbitrary)}." if found.arbitrary else ""
    return write_snippet(
        "Identified",
        f'<div class="large" tabindex="0" role="group" aria-label="formula">{formula}</div>',
        write_words(free),
        steps,
    )

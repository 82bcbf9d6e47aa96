"""What the selection rate would tell, and what more rows would."""

from boundit.decisions.suggest.evaluation import Evaluation, measure_width
from boundit.decisions.suggest.report import Suggestion

HALVINGS = 5
"""How often the largest selection rate that the log allows is looked for by halves."""
TIMES = 4
"""How many times the rows are asked about."""


def suggest_selection_rate(evaluation: Evaluation) -> list[Suggestion]:
    """Ask what the selection rate would tell, at the middle and the ends of what can be.

    A rate near 0 says nothing, so that its width is today's.
    """
    request = evaluation.request
    if request.graph.selection is None or request.facts.rate is not None:
        return []
    largest, narrowest = _find_largest_rate(evaluation)
    if narrowest is None or (middle := evaluation.measure_rate(largest / 2)) is None:
        return []
    basis = (
        f"with a rate of {largest / 2:.2g}; {narrowest:.3f} with {largest:.2g}, the largest "
        f"the log allows, {evaluation.width:.3f} with a rate near 0"
    )
    return [
        Suggestion(
            "selection rate",
            "the selection rate: which share of everyone was logged",
            middle,
            narrowest,
            evaluation.width,
            "one number: how many there were in all, logged or not",
            basis,
            variables=(request.graph.selection,),
        )
    ]


def _find_largest_rate(evaluation: Evaluation) -> tuple[float, float | None]:
    """Find about the largest selection rate that the log allows, and the width with it."""
    width = evaluation.measure_rate(1.0)
    if width is not None:
        return 1.0, width
    low, high, found = 0.0, 1.0, None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        width = evaluation.measure_rate(middle)
        if width is None:
            high = middle
        else:
            low, found = middle, width
    return low, found


def suggest_rows(evaluation: Evaluation) -> list[Suggestion]:
    """Ask what four times the rows would tell, of each kind alike.

    The part of the width that is sampling error about halves, the rest stays.
    """
    if evaluation.rows is None or evaluation.request.confidence is None:
        return []
    width = evaluation.measure_times(TIMES)
    if width is None:
        return []
    rest = measure_width(evaluation.table, estimates=True)
    root = rest + (evaluation.width - rest) / TIMES**0.5
    proved = evaluation.table.complete
    lasts = "stay however many rows there are" if proved else "are left by the rules tried"
    basis = (
        f"every count taken {TIMES} times; by the square root of the rows alone {root:.3f}, of "
        f"which {rest:.3f} {lasts}"
    )
    return [
        Suggestion(
            "rows",
            f"{TIMES} times the rows: {TIMES * evaluation.rows:,}",
            width,
            width,
            width,
            f"{(TIMES - 1) * evaluation.rows:,} more rows of the same kind",
            basis,
        )
    ]

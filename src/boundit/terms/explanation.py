"""An interval in words, as a colleague would explain it."""

from collections.abc import Mapping, Sequence

from boundit.terms.bound import Bound, RuleRecord
from boundit.terms.rounding import ROUNDING

RANGE = "range"
"""What an end is called that no rule gave."""
_MOST_CELLS = 16


def explained(
    question: str,
    bound: Bound,
    rules: Mapping[str, RuleRecord],
    *,
    confidence: float | None,
    caveats: Sequence[str],
) -> str:
    """Say the interval, then for each end the rule, the formula, the numbers and the steps."""
    sure = (
        f"With confidence {confidence:g}, for all rows of the table at once, "
        if confidence
        else ""
    )
    lines = [f"{sure}{question} lies in {bound.interval}."]
    low, high = _shown(bound.lower_cells), _shown(bound.upper_cells)
    if bound.lower_rule != bound.upper_rule:
        lines += _end(f"Lower end {bound.lower:.4g}", bound.lower_rule, low, rules)
        lines += _end(f"Upper end {bound.upper:.4g}", bound.upper_rule, high, rules)
    elif low == high:
        lines += _end("Both ends", bound.lower_rule, low, rules)
    else:
        parts = [
            f"  Lower end {bound.lower:.4g}:",
            *low,
            f"  Upper end {bound.upper:.4g}:",
            *high,
        ]
        lines += _end("Both ends", bound.lower_rule, parts, rules)
    if confidence:
        lines += ["", _widths(bound)]
    lines += ["", f"Logged for this arm and context: {format_count(bound.n)}."]
    if notes := [*bound.marks, *caveats]:
        lines += ["", "Caveats:", *(f"  - {note}" for note in notes)]
    return "\n".join(lines)


def _widths(bound: Bound) -> str:
    """Say how much of the width more rows would take away, and how much they never can."""
    whole = bound.upper - bound.lower
    # Programs leave points a width of rounding.
    lasting = round(min(bound.upper_estimate - bound.lower_estimate, whole), 9)
    if whole < ROUNDING:
        return "The width is 0: the interval is one number, and more rows would not change it."
    if lasting < ROUNDING:
        return (
            f"All of the width {whole:.3g} is sampling error: with ever more rows it would "
            "shrink to 0, for the graph leaves nothing open."
        )
    if whole - lasting < ROUNDING:
        return (
            f"All of the width {whole:.3g} is what the graph leaves open: however many rows, "
            "it would stay."
        )
    estimate = f"[{bound.lower_estimate:.4g}, {bound.upper_estimate:.4g}]"
    return (
        f"Of the width {whole:.3g}, about {lasting:.3g} is what the graph leaves open, however "
        f"many rows (the best rules on the estimates give {estimate}); "
        f"{whole - lasting:.3g} is sampling error, which more rows make smaller."
    )


def format_count(n: float) -> str:
    """Spell a number of rows; an exact law has shares instead.

    >>> format_count(12345.0), format_count(1), format_count(0.03125)
    ('12,345 rows', '1 row', 'a share of 0.03125 of the rows')
    """
    if not float(n).is_integer():
        return f"a share of {n:.4g} of the rows"
    return f"{n:,.0f} row{'' if n == 1 else 's'}"


def _shown(cells: Sequence[str]) -> list[str]:
    """The numbers of an end, a line each."""
    lines = [f"    {cell}" for cell in cells[:_MOST_CELLS]]
    rest = len(cells) - _MOST_CELLS
    return [*lines, f"    and {rest} more"] if rest > 0 else lines


def _end(
    which: str, name: str, numbers: Sequence[str], rules: Mapping[str, RuleRecord]
) -> list[str]:
    said = name if name != RANGE else "the reward's range, no rule says more"
    rule = rules.get(name)
    lines = ["", f"{which}: {said}."]
    if rule:
        lines.append(f"  {rule.claim}")
    lines += numbers
    if rule and rule.steps:
        lines += ["  Why it holds:", *(f"    - {step}" for step in rule.steps)]
    return lines

"""A bound table as a person reads it in a terminal."""

from collections.abc import Mapping, Sequence

from boundit.terms.bound import Bound, Key


def format_rows(names: Sequence[str], bounds: Mapping[Key, Bound]) -> str:
    """Write a bound table as text, one line a row: arm, context, interval, rows and rules.

    Called by ``BoundTable.__str__``.
    """
    head = [*names, "lower", "upper", "n", "by"]
    body = []
    for (arm, context), bound in bounds.items():
        rules = dict.fromkeys((bound.lower_rule, bound.upper_rule))
        ends = f"{bound.lower:.4g}", f"{bound.upper:.4g}"
        body.append([*map(str, arm + context), *ends, f"{bound.n:,.6g}", " / ".join(rules)])
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *body]
    )
    return "\n".join(lines)

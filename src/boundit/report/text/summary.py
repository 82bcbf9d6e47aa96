"""A table of bounds in a few sentences: how many, how wide, which arms are out, how sure."""

from collections.abc import Iterator

from boundit.report.text.lettering import choose_decimals, label_values
from boundit.report.text.small_counts import describe_small_counts
from boundit.results.bound_table import BoundTable
from boundit.results.choice import write_levels
from boundit.results.explanation import is_proved

MOST_NAMED = 3
"""How many contexts a sentence names; of more it says how many."""
_FINER = 1e-6
"""Which part of a width is no more than rounding."""


def summarize_bounds(table: BoundTable) -> str:
    """Say in a few lines what a table of bounds tells."""
    if not table.bounds:
        return f"No intervals for {table.outcome}."
    return "\n".join(_list_sentences(table))


def _list_sentences(table: BoundTable) -> Iterator[str]:
    """Yield the sentences that sum a table up."""
    yield from table.critical
    yield _describe_size(table)
    yield _describe_widths(table)
    if len(table.arms) > 1:
        yield _describe_order(table)
    if table.confidence is None:
        yield "Sampling error is not allowed for."
    else:
        sure = f"Confidence {table.confidence:g} for all of it at once"
        by = " with models" if table.models else ""
        yield f"{sure}, {table.inference} inference{by}."
    if table.caveats:
        several = len(table.caveats) != 1
        yield f"{len(table.caveats)} caveat{'s' * several}; see caveats."
    if small := describe_small_counts(table):
        yield f"{small}."


def _describe_size(table: BoundTable) -> str:
    """Say how many intervals there are, and from how many rows."""
    n, arms, contexts = len(table.bounds), len(table.arms), len(table.contexts)
    size = f"{arms:,} arm{'s' * (arms != 1)}"
    if table.context:
        size += f" in {contexts:,} context{'s' * (contexts != 1)}"
    logged = sum(bound.n for bound in table.bounds.values())
    rows = f", {logged:,.0f} logged rows" if logged and float(logged).is_integer() else ""
    return f"{n:,} interval{'s' * (n != 1)} for {table.outcome}: {size}{rows}."


def _describe_widths(table: BoundTable) -> str:
    """Say how wide the intervals are, and what rows would take away."""
    bounds = list(table.bounds.values())
    widths = [bound.upper - bound.lower for bound in bounds]
    lasting = [max(bound.upper_estimate - bound.lower_estimate, 0.0) for bound in bounds]
    mean, stays = sum(widths) / len(widths), sum(lasting) / len(lasting)
    places = choose_decimals(*table.outcome_range)
    said = f"{min(widths):.{places}f} to {max(widths):.{places}f} wide"
    if len(bounds) == 1:
        said = f"{mean:.{places}f} wide"
    else:
        said += f", {mean:.{places}f} on average"
    if stays < mean * (1 - _FINER):
        proved = table.complete and all(map(is_proved, bounds))
        last = "would stay with endless rows" if proved else "is left by the rules tried"
        said += f"; about {stays:.{places}f} {last}"
    return f"{said[:1].upper()}{said[1:]}."


def _describe_order(table: BoundTable) -> str:
    """Say where one arm surely has the highest mean, and where some are out."""
    best, some = list[str](), 0
    for where in table.contexts:
        lost = table.find_dominations(where)
        if lost and len(lost) == len(table.arms) - 1:
            (winner,) = (arm for arm in table.arms if arm not in lost)
            place = write_levels(table.context, where)
            best.append(f"{place}: " * bool(place) + label_values(table.treatments, winner))
        elif lost:
            some += 1
    if not best and not some:
        return (
            "No arm is ruled out in any context." if table.context else "No arm is ruled out."
        )
    if not table.context:
        return f"{best[0]} surely has the highest mean." if best else "Some arms are ruled out."
    return _count_contexts(len(table.contexts), best, some)


def _count_contexts(n: int, best: list[str], some: int) -> str:
    """Say in how many contexts an arm is best, some are out, or none."""
    named = f" ({'; '.join(best)})" if 0 < len(best) <= MOST_NAMED else ""
    return (
        f"One arm surely has the highest mean in {len(best):,} of {n:,} contexts{named}; "
        f"in {some:,} others some arms are ruled out, in {n - len(best) - some:,} none."
    )

"""What a comparison rests on, in plain sentences."""

from collections.abc import Iterator, Sequence

from boundit.decisions.compare.comparison import ContextDifference
from boundit.decisions.compare.estimate import Estimate
from boundit.decisions.compare.logged import LoggedMeans
from boundit.decisions.compare.measured import Measured
from boundit.decisions.compare.policies import ReadPolicy, Side
from boundit.decisions.compare.shares import ContextShares
from boundit.results.bound_table import EXPERT, BoundTable
from boundit.results.sampling import ROWS


def explain_comparison(
    table: BoundTable,
    sides: tuple[Side, Side],
    shares: ContextShares,
    differences: Sequence[ContextDifference],
    logged: LoggedMeans | None,
    estimate: Estimate | None,
    missed: float,
) -> tuple[str, ...]:
    """Say what a comparison took for granted, what it shared and what it only subtracted."""
    return (
        *_explain_arms(sides, differences),
        *(_explain_logged(table, logged) if logged else ()),
        *_explain_contexts(shares, differences),
        *_explain_measured(sides),
        *(_explain_estimate(estimate) if estimate else ()),
        *_explain_chance(table, missed),
    )


def _explain_arms(
    sides: tuple[Side, Side], differences: Sequence[ContextDifference]
) -> Iterator[str]:
    """Say under which unknown the arms of two policies were compared."""
    n, shared = len(differences), sum(found.shared for found in differences)
    if all(isinstance(side, ReadPolicy) for side in sides):
        where = "" if n == 1 else f" in {shared:,} of {n:,} contexts"
        if shared:
            yield (
                f"Arms were compared under one shared unknown{where}, by what the bounds know "
                "of how far they lie apart; arms that both policies choose cancel."
            )
        if shared < n:
            rest = "in the others" if shared else "otherwise"
            yield (
                f"Arms that both policies choose cancel; {rest} the ends of intervals were "
                "subtracted."
            )
    yield from dict.fromkeys(found.mark for found in differences if found.mark)


def _explain_logged(table: BoundTable, logged: LoggedMeans) -> Iterator[str]:
    """Say what stands for what the log did, and what it shares with the bounds."""
    who = "everyone, not of the selected rows" if logged.is_selected else "its rows"
    where = " in each context" if table.context else ""
    yield (
        f"What the log did is the mean of {table.outcome}{where} among {who}; its unknowns are "
        "not tied to those of the bounds, so its ends were subtracted."
    )
    if logged.groups is not None:
        names = ", ".join(logged.groups.names)
        yield (
            f"How many of each {names} there are is one unknown of the policy and of the log: "
            "both were also compared within each, and the better ends were used."
        )
    if logged.is_lottery and logged.is_selected:
        yield (
            f"By the graph nothing that chose the arms moves {table.outcome} otherwise: what "
            "the log did also lies between the arms, under the unknowns that they share; the "
            "better ends were used."
        )
    tables = [logged.table, *((logged.groups.arms,) if logged.groups else ())]
    yield from dict.fromkeys(caveat for one in tables for caveat in one.caveats)


def _explain_contexts(
    shares: ContextShares, differences: Sequence[ContextDifference]
) -> Iterator[str]:
    """Say how contexts were weighed."""
    if shares.sentence:
        yield shares.sentence
    if len(differences) > 1 and not all(found.share.width == 1 for found in differences):
        yield (
            "Ends of contexts were added up: what is unknown in one was not tied to what is "
            "unknown in another."
        )


def _explain_measured(sides: tuple[Side, Side]) -> Iterator[str]:
    """Say within which ends measured values lie."""
    for side in sides:
        if isinstance(side, Measured):
            how = "" if side.confidence is None else f" with confidence {side.confidence:g}"
            name = str(side).capitalize()
            yield f"{name} lies in {side.ends}{how}; its ends were subtracted."


def _explain_estimate(estimate: Estimate) -> Iterator[str]:
    """Say what propensities add to the bounds."""
    yield (
        f"Weighted rewards of the log give {estimate.interval}, which was intersected with "
        "what the bounds say."
    )
    yield from estimate.reasons


def _explain_chance(table: BoundTable, missed: float) -> Iterator[str]:
    """Say how chances of missing add up, and where none were allowed for."""
    if table.confidence is None and table.profile != EXPERT:
        yield (
            "The ends of the bounds allow for no chance, which is right for an exact law alone."
        )
    if table.inference == "approximate":
        yield "The bounds hold nearly as often as they say, on large logs."
    if table.units != ROWS and missed:
        yield (
            f"The bounds are of {table.units}; what was read beside them was counted as "
            "independent rows."
        )
    if missed and table.confidence is not None:
        yield (
            f"The bounds hold with confidence {table.confidence:g}, and what was read beside "
            f"them misses with chance {missed:.3g}; both chances of missing add up."
        )

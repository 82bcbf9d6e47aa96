"""How many rounds of a randomised trial give an interval of some width: a plain formula.

A mean of ``m`` rewards in [0, 1] is within ``kl(mean, end) <= log(2 k / d) / m`` of the truth,
for all of ``k`` arms and contexts at once with chance at least ``1 - d`` (Chernoff's bound,
with ``d / (2 k)`` for each side). For a mean near one half this is Hoeffding's interval; for
small rates it is much narrower.
"""

from collections.abc import Sequence
from math import ceil, log

import numpy as np

from boundit.decisions.suggest.evaluation import Evaluation
from boundit.decisions.suggest.report import Suggestion
from boundit.results.bound_table import BoundTable
from boundit.simulation.fitted import FittedEnvironment

SURE = 0.95
"""The confidence of a trial where the bounds themselves have none."""
MOST_ROUNDS = 10**12
"""No larger trial is asked for."""


def find_trial_width(mean: float, rounds: float, *, error: float) -> float:
    """Find how wide the interval of a mean is after so many rounds, with this error in all.

    >>> round(find_trial_width(0.5, 1000, error=0.05), 3)
    0.086
    >>> round(find_trial_width(0.004, 1000, error=0.05), 3)
    0.011
    """
    budget = log(2 / error) / rounds
    return _find_end(mean, 1.0, budget) - _find_end(mean, 0.0, budget)


def count_rounds(mean: float, width: float, *, error: float) -> int:
    """Count the rounds after which the interval of a mean is no wider than ``width``.

    >>> count_rounds(0.5, 0.0857, error=0.05)
    1001
    """
    low, high = 0, 1
    while high < MOST_ROUNDS and find_trial_width(mean, high, error=error) > width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if find_trial_width(mean, middle, error=error) > width:
            low = middle
        else:
            high = middle
    return high


def suggest_trial(
    evaluation: Evaluation, environments: Sequence[FittedEnvironment], rounds: int
) -> list[Suggestion]:
    """Ask what a randomised trial of so many rounds of each arm in each context would tell.

    It also says after how many rounds a trial alone is as narrow as the bounds are today, and
    how many it takes to tell the highest mean from the next.
    """
    table = evaluation.table
    low, high = table.outcome_range
    scale = high - low
    error = (1 - (table.confidence or SURE)) / max(len(table.bounds), 1)
    means = {
        key: ((row.lower + row.upper) / 2 - low) / scale for key, row in table.bounds.items()
    }
    widths, same = [], []
    for key, row in table.bounds.items():
        today = (row.upper - row.lower) / scale
        widths.append(min(find_trial_width(means[key], rounds, error=error), today) * scale)
        same.append(count_rounds(means[key], max(today, 1e-6), error=error))
    found = float(np.mean(widths))
    total = rounds * len(means)
    basis = (
        f"Chernoff's bound at confidence {table.confidence or SURE:g} for all rows at once, "
        f"about the middle of today's bounds; {ceil(float(np.median(same))):,} rounds of an "
        "arm in a context are as narrow as the bounds are today"
    )
    if decide := _count_to_decide(environments, table, error):
        basis += f"; to tell the highest mean from the next takes about {decide:,}"
    return [
        Suggestion(
            "trial",
            f"a randomised trial of {rounds:,} rounds of each arm in each context",
            found,
            found,
            found,
            f"{total:,} rounds with arms drawn at random",
            basis,
        )
    ]


def _count_to_decide(
    environments: Sequence[FittedEnvironment], table: BoundTable, error: float
) -> int | None:
    """Count the rounds of an arm in a context that tell the best from the next, in the median.

    Over all environments that fit the log, and the contexts that the bounds do not settle already.
    """
    counts = list[int]()
    for environment in environments:
        means = environment.means()
        for context in table.contexts:
            gone = table.find_dominations(context)
            left = [
                means[a, context] for a in table.arms if a not in gone and (a, context) in means
            ]
            if len(left) > 1:
                best, second = sorted(left, reverse=True)[:2]
                gap = max(best - second, 1e-4)
                counts.append(count_rounds((best + second) / 2, gap, error=error))
    return ceil(float(np.median(counts))) if counts else None


def _find_end(mean: float, outer: float, budget: float) -> float:
    """Find the number between a mean and ``outer`` at which the divergence is the budget."""
    inner, far = mean, outer
    for _ in range(60):
        middle = (inner + far) / 2
        if _compute_kl(mean, middle) > budget:
            far = middle
        else:
            inner = middle
    return inner


def _compute_kl(p: float, q: float) -> float:
    """Compute the divergence of two coins, in nats."""
    if q in (0.0, 1.0):
        return 0.0 if p == q else float("inf")
    top = p * log(p / q) if p > 0 else 0.0
    return top + ((1 - p) * log((1 - p) / (1 - q)) if p < 1 else 0.0)

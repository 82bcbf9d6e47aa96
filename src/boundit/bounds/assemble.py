"""From a plan and counts to the finished table."""

from collections.abc import Sequence

from boundit.bounds.coin import Coin
from boundit.bounds.reward import reward_range as settled_range
from boundit.bounds.rules import Plan
from boundit.bounds.tighten import tightest
from boundit.counts.evaluate import Evaluator
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.terms.bound_table import BoundTable


def assembled(
    plan: Plan,
    tables: Sequence[CountTable],
    query: EffectQuery,
    *,
    profile: str,
    selected: bool,
    reward_range: tuple[float, float] | None = None,
) -> BoundTable:
    """Try every rule of the plan on the counts and keep the best ends.

    The first of ``tables`` is the log; the others are external. All have the same levels.
    """
    (outcome,) = query.outcomes
    log, rewarded = tables[0], [table for table in tables if table.reward]
    low, high = settled_range(rewarded, reward_range)
    coins = [Coin(table, outcome if table.reward else None, low, high) for table in tables]
    # Without selection the log is the population, and formulas speak of that.
    evaluator = Evaluator(coins[0], coins[1:] if selected else coins)
    notes = dict.fromkeys(note for table in tables for note in table.caveats)
    return BoundTable(
        outcome=outcome,
        treatments=query.treatments,
        context=query.context,
        levels={name: log.levels[name] for name in query.treatments + query.context},
        reward_range=(low, high),
        bounds=tightest(plan, evaluator, log, query, (low, high)),
        rules={candidate.rule.name: candidate.rule for candidate in plan.candidates},
        profile=profile,
        caveats=(*plan.caveats, *notes),
    )

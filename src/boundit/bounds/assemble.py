"""From a plan and counts to the finished table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from boundit.bounds.coin import Coin
from boundit.bounds.confidence import Confident, extreme_terms, terms_in
from boundit.bounds.reward import is_binary
from boundit.bounds.reward import reward_range as settled_range
from boundit.bounds.rules import Candidate, Plan
from boundit.bounds.tighten import tightest
from boundit.counts.evaluate import Evaluator
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.terms.bound_table import BoundTable

MOST_RULES = 3
"""With a confidence, how many rules share the error: each costs the others width."""


def assembled(
    plan: Plan,
    tables: Sequence[CountTable],
    query: EffectQuery,
    *,
    profile: str,
    selected: bool,
    reward_range: tuple[float, float] | None = None,
    confidence: float | None = None,
    sparing: bool = True,
) -> BoundTable:
    """Try every rule of the plan on the counts and keep the best ends.

    The first of ``tables`` is the log; the others are external. All have the same levels.
    ``sparing=False`` shares the error over every cell of every rule, for comparison.
    """
    (outcome,) = query.outcomes
    # Chance plays a part as soon as one table was counted from rows.
    log = replace(tables[0], exact=all(table.exact for table in tables))
    rewarded = [table for table in tables if table.reward]
    low, high = settled_range(rewarded, reward_range)
    binary = (low, high) == (0.0, 1.0)
    coins = [
        Coin(table, outcome if table.reward else None, low, high, binary and is_binary(table))
        for table in tables
    ]
    # Without selection the log is the population, and formulas speak of that alone: of two
    # tables the smaller would be read, however few rows it has.
    population = coins[1:] if selected else coins[:1]
    evaluator = Evaluator(coins[0], population)
    confident = None
    if confidence is not None:
        plan = few(plan, evaluator.levels) if sparing else plan
        terms = extreme_terms(plan.candidates)
        confident = Confident(
            coins[0], population, terms, confidence=confidence, sparing=sparing
        )
    notes = dict.fromkeys(note for table in tables for note in table.caveats)
    bounds, told = tightest(
        plan,
        evaluator,
        log,
        query,
        (low, high),
        confident=confident,
        refutes=profile == "sound",
    )
    return BoundTable(
        outcome=outcome,
        treatments=query.treatments,
        context=query.context,
        levels={name: log.levels[name] for name in query.treatments + query.context},
        reward_range=(low, high),
        bounds=bounds,
        rules={candidate.rule.name: candidate.rule for candidate in plan.candidates},
        profile=profile,
        confidence=confidence,
        caveats=(*plan.caveats, *told, *notes),
    )


def few(plan: Plan, levels: Mapping[str, int]) -> Plan:
    """Keep the rules likeliest to win, judged by the graph and the levels alone.

    Fewest unknown variables first, then fewest cells: a rule with more of either is wider, or
    has fewer rows in each. Rewards must have no say, or the confidence would not hold.
    """

    def size(candidate: Candidate) -> tuple[int, int]:
        terms = terms_in(candidate.formulas)
        cells = sum(prod(levels[name] for name in term.of | term.given) for term in terms)
        return candidate.unknown, cells

    kept = sorted(plan.candidates, key=size)[:MOST_RULES]
    return Plan(tuple(kept), plan.caveats)

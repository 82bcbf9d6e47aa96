"""From a plan and counts to the finished table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.candidate import Candidate
from boundit.bounds.confidence import ConfidentNumbers, collect_extremes, collect_terms
from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.table import collect_contrasts
from boundit.bounds.intersect import EndsCross, tightest
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import Numbers, PlugInNumbers
from boundit.bounds.online import make_living_plans
from boundit.bounds.plan import BoundPlan
from boundit.bounds.reward import is_binary
from boundit.bounds.reward import reward_range as settled_range
from boundit.bounds.selection_facts import FactsRefuted
from boundit.counts.evaluate import Evaluator
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.terms.bound_table import BoundTable

MOST_RULES = 3
"""With a confidence, how many rules share the error: each costs the others width."""


def assembled(
    plan: BoundPlan,
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
        BinaryReward(
            table, outcome if table.reward else None, low, high, binary and is_binary(table)
        )
        for table in tables
    ]
    # Without selection the log is the population, and formulas speak of that alone: of two
    # tables the smaller would be read, however few rows it has.
    population = coins[1:] if selected else coins[:1]
    evaluator = Evaluator(coins[0], population)
    confident, whole = None, plan
    if confidence is not None:
        plan = few(plan, evaluator.levels) if sparing else plan
        terms = collect_extremes(plan.candidates)
        confident = ConfidentNumbers(
            coins[0], population, terms, confidence=confidence, sparing=sparing
        )
    of_tables = dict.fromkeys(note for table in tables for note in table.notes)
    numbers: Numbers = confident or PlugInNumbers(evaluator)
    if log.exact or confident:
        require_possible(plan, numbers)
    try:
        bounds, told = tightest(
            plan,
            evaluator,
            log,
            query,
            (low, high),
            confident=confident,
            refutes=profile == "sound",
        )
    except EndsCross:
        # Rules that hold whatever is stated cross because of the graph; else who knows.
        if stated := _stated(plan):
            raise FactsRefuted(stated) from None
        raise
    notes = (*plan.notes, *told, *of_tables)
    return BoundTable(
        outcome=outcome,
        treatments=query.treatments,
        context=query.context,
        levels={name: log.levels[name] for name in query.treatments + query.context},
        reward_range=(low, high),
        bounds=bounds,
        contrasts=collect_contrasts(
            [c.joint for c in plan.candidates if c.joint] if profile == "sound" else [],
            numbers,
            query,
            log.levels,
            bounds,
            (low, high),
            budget=plan.clock,
        ),
        living=make_living_plans(
            [c.joint.chain for c in whole.candidates if isinstance(c.joint, SharedChain)],
            plan.graph,
            query,
            log.levels,
            (low, high),
            lambda terms: (
                PlugInNumbers(evaluator)
                if confidence is None
                else ConfidentNumbers(coins[0], population, terms, confidence=confidence)
            ),
        )
        if plan.graph
        else (),
        rules={candidate.rule.name: candidate.rule for candidate in plan.candidates},
        profile=profile,
        confidence=confidence,
        caveats=tuple(map(str, notes)),
        notes=notes,
    )


def require_possible(plan: BoundPlan, numbers: Numbers) -> None:
    """Refuse facts about selection that no population could have, the log being as it is."""
    for reweighting in _stating(plan):
        if not Populations(reweighting, numbers).may_exist():
            raise FactsRefuted(reweighting.statement)


def _stating(plan: BoundPlan) -> list[Reweighting]:
    """List the reweightings that lean on something stated of selection."""
    found = (each for c in plan.candidates for each in c.reweightings if each.facts)
    return list(dict.fromkeys(found))


def _stated(plan: BoundPlan) -> str:
    return "; ".join(dict.fromkeys(found.statement for found in _stating(plan)))


def few(plan: BoundPlan, levels: Mapping[str, int]) -> BoundPlan:
    """Keep the rules likeliest to win, judged by the graph and the levels alone.

    Fewest unknown variables first, then fewest cells: a rule with more of either is wider, or
    has fewer rows in each. A reweighting of which nothing is known hardly ever beats
    conditioning, and costs error all the same. Rewards must have no say, or the confidence
    would not hold.
    """

    def size(candidate: Candidate) -> tuple[int, int]:
        terms = collect_terms(candidate.formulas)
        cells = sum(prod(levels[name] for name in term.of | term.given) for term in terms)
        return candidate.unknown, cells

    tried = [c for c in plan.candidates if not _idle(c)] or plan.candidates
    kept = sorted(tried, key=size)[:MOST_RULES]
    return replace(plan, candidates=tuple(kept))


def _idle(candidate: Candidate) -> bool:
    """Tell whether it reweights, with no fact and no table to say by how much."""
    supposed = candidate.reweightings
    return bool(supposed) and not any(each.facts or each.tables for each in supposed)

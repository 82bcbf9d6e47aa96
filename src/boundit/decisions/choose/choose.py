"""Which arm, or which lottery over arms, to use in each context of a table of bounds."""

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import numpy as np

from boundit.core.errors import BounditError
from boundit.core.message import Option
from boundit.core.rounding import EXACT_ROUNDING, ROUNDING
from boundit.counts.named_array import Floats
from boundit.decisions.choose.least_regret import (
    bound_regret,
    certify_regret,
    find_least_regret,
    find_single,
)
from boundit.decisions.choose.mean_set import MeanSet
from boundit.decisions.choose.words import describe_choice
from boundit.results.bound import Arm, Context, Goal, read_goal
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice, ChoiceRule, ContextChoice

MOST_CERTIFIED = 2000
"""Up to how many rows of a table choices carry a proof that no lottery regrets less."""
MINIMAX_REGRET, MAXIMIN, OPTIMISM = get_args(ChoiceRule)


class NoChoice(BounditError):
    """A way to choose that is none, or a table without an arm to choose."""


def choose(
    bounds: BoundTable,
    *,
    rule: ChoiceRule = "minimax-regret",
    optimism: float | None = None,
    lottery: bool = True,
    goal: Goal | None = None,
) -> Choice:
    """Choose an arm, or a lottery over arms, for every context of a table of bounds.

    What it promises holds with the table's confidence, the choice included: differences of arms
    and the intervals beside them are one simultaneous statement. ``goal`` says whether a greater
    or a smaller mean is better; None for that of the table.
    """
    if not isinstance(bounds, BoundTable):
        raise NoChoice(f"arms are chosen by a BoundTable, found {type(bounds).__name__}")
    _require_rule(rule, optimism)
    goal = read_goal(goal or bounds.goal)
    if not bounds.intervals:
        raise NoChoice("the table of bounds has no rows, so there is no arm to choose")
    certified = rule == MINIMAX_REGRET and lottery and len(bounds.intervals) <= MOST_CERTIFIED
    return _choose_in(
        bounds, bounds.contexts, rule, optimism, goal, lottery=lottery, certified=certified
    )


def _choose_in(
    bounds: BoundTable,
    contexts: Iterable[Context],
    rule: ChoiceRule,
    optimism: float | None,
    goal: Goal,
    *,
    lottery: bool = True,
    certified: bool,
) -> Choice:
    """Choose in some contexts of a table."""
    choices = dict[Context, ContextChoice]()
    for context in contexts:
        means = MeanSet.from_table(bounds, context)
        means = means if goal == "max" else means.turn()
        chances = _choose_chances(means, rule, optimism, lottery=lottery)
        found = _describe_context(means, context, chances, rule, optimism, certified=certified)
        if goal == "min":
            found = replace(found, floor=0.0 - found.floor)
        said = describe_choice(found, bounds.outcome, bounds.treatments, rule, optimism, goal)
        choices[context] = replace(found, says=said)
    return Choice(
        bounds.outcome,
        bounds.treatments,
        bounds.context,
        rule,
        optimism,
        choices,
        bounds.confidence,
        goal,
    )


def _require_rule(rule: str, optimism: float | None) -> None:
    """Refuse a rule that is none, and an optimism that is missing, idle or no share."""
    if rule not in get_args(ChoiceRule):
        known = ", ".join(map(repr, get_args(ChoiceRule)))
        raise NoChoice(Option("rule"), f" must be one of {known}, found {rule!r}")
    if rule != OPTIMISM and optimism is not None:
        raise NoChoice(
            Option("optimism"), " has a meaning with ", Option("rule", OPTIMISM), " only"
        )
    number = isinstance(optimism, int | float) and not isinstance(optimism, bool)
    if rule == OPTIMISM and not (number and 0 <= float(optimism or 0) <= 1):
        raise NoChoice(
            Option("rule", OPTIMISM),
            " needs a number from 0 (the worst) to 1 (the best) as ",
            Option("optimism"),
            f", found {optimism!r}",
            option="optimism",
        )


def _choose_chances(
    means: MeanSet, rule: ChoiceRule, optimism: float | None, *, lottery: bool
) -> Floats:
    """Choose the chances of the arms in one context by a rule."""
    if rule != MINIMAX_REGRET:
        chances = np.zeros(len(means.arms))
        chances[_score(means, rule, optimism).argmax()] = 1.0
        return chances
    return find_least_regret(means) if lottery else find_single(means.find_leads(), means)


def _score(means: MeanSet, rule: ChoiceRule, optimism: float | None) -> Floats:
    """Score the arms of a context: what they earn at least, or between that and the most."""
    if rule == MAXIMIN or not optimism:
        return means.lowers
    return (
        means.uppers
        if optimism == 1
        else means.lowers + optimism * (means.uppers - means.lowers)
    )


def _find_ties(
    means: MeanSet, rule: ChoiceRule, optimism: float | None, single: int
) -> tuple[Arm, ...]:
    """List the arms that do as well as the single one chosen, by the rule it was chosen by."""
    scores = _score(means, rule, optimism)
    if rule == MINIMAX_REGRET:
        scores = -means.find_leads().max(axis=0)
    room = ROUNDING * max(1.0, abs(scores[single]))
    alike = [i for i in np.flatnonzero(scores >= scores[single] - room) if i != single]
    return tuple(means.arms[i] for i in alike)


def _describe_context(
    means: MeanSet,
    context: Context,
    chances: Floats,
    rule: ChoiceRule,
    optimism: float | None,
    *,
    certified: bool,
) -> ContextChoice:
    """Write down what a lottery promises in one context, but for the words.

    Where ``certified``, also what no lottery promises less than.
    """
    leads = means.find_leads()
    regret, worst = bound_regret(leads, chances)
    alone = find_single(leads, means) if rule == MINIMAX_REGRET else chances
    single_regret, single_worst = bound_regret(leads, alone)
    single = int(alone.argmax())
    drawn = [int(i) for i in np.flatnonzero(chances)]
    floor = 0.0 - means.largest({means.arms[i]: -float(chances[i]) for i in drawn})
    apart, _ = bound_regret(replace(means, leads=None).find_leads(), chances)
    room, nothing = (size * max(1.0, abs(apart)) for size in (ROUNDING, EXACT_ROUNDING))
    beaten = np.flatnonzero((leads < -room).any(axis=1))
    return ContextChoice(
        context=context,
        lottery={means.arms[i]: float(chances[i]) for i in drawn},
        regret=regret,
        against=means.arms[worst] if regret > nothing else None,
        floor=floor,
        single=means.arms[single],
        single_regret=single_regret,
        single_against=means.arms[single_worst] if single_regret > nothing else None,
        ties=_find_ties(means, rule, optimism, single),
        ruled_out={means.arms[i]: means.arms[int(leads[i].argmin())] for i in beaten},
        by_differences=bool(regret < apart - room),
        marks=(means.mark,) if means.mark else (),
        says="",
        certified=certify_regret(leads) if certified else None,
    )

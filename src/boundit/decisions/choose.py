r"""Choice of an arm, or of a randomized arm, in each context, by bounds on means.

A randomized choice ``pi`` has regret :math:`\sum_b \pi_b (\mu_a - \mu_b)` where ``a`` is the best
arm. In a closed set of means its maximum is :math:`\max_a \sum_b \pi_b D_{ab}`, so minimax regret
is the matrix game of the greatest differences ``D`` (Manski 2004; two arms have a closed form,
Manski 2007). The stated regret is computed from ``D`` and the probabilities and rounded up, so it
is valid whatever a solver found.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from boundit.bounds.linear_program import Program, SparseMatrix
from boundit.core.errors import BounditError
from boundit.core.message import Option
from boundit.core.rounding import EXACT_ROUNDING, ROUNDING
from boundit.counts.named_array import Floats
from boundit.decisions.means import EPS, MeanSet
from boundit.results.bound import Arm, Context, Goal, read_goal
from boundit.results.bound_table import BoundTable
from boundit.results.choice import (
    MOST_DRAWN,
    Choice,
    ChoiceRule,
    ContextChoice,
    cut_draw,
    write_at_least,
    write_at_most,
    write_promise,
)
from boundit.results.text import write_arm

_MOST_NAMED = 3


class InvalidChoice(BounditError):
    """An unknown rule, an option that it does not have, or a table without arms."""


def choose(
    bounds: BoundTable,
    *,
    rule: ChoiceRule = "minimax-regret",
    optimism: float | None = None,
    randomize: bool = False,
    costs: Mapping[object, float] | None = None,
    goal: Goal | None = None,
) -> Choice:
    """Choose an arm for every context of a table of bounds.

    The stated regrets hold at the confidence of the table in all contexts at once, whatever was
    chosen, because intervals and effects of the table are one simultaneous statement.

    Parameters
    ----------
    bounds : BoundTable
        The bounds to choose by.
    rule : {"minimax-regret", "maximin", "optimism"}
        Least maximum regret; greatest lower endpoint; or greatest
        ``(1 - optimism) * lower + optimism * upper``.
    optimism : float, optional
        A number from 0 to 1, for the rule ``"optimism"`` alone.
    randomize : bool
        With minimax regret, whether arms may be drawn with probabilities, which lowers the
        maximum regret where no arm is best.
    costs : mapping, optional
        Cost of arms, in units of the outcome; arms that are not named cost nothing.
    goal : {"max", "min"}, optional
        Whether a greater or a smaller outcome is better. Default: the goal of the table.

    Returns
    -------
    Choice
        One ``ContextChoice`` for each context.
    """
    if not isinstance(bounds, BoundTable):
        raise InvalidChoice(
            f"Arms are chosen by a BoundTable, not by {type(bounds).__name__}. Derive one first."
        )
    _require_rule(rule, optimism, randomize=randomize)
    aim = read_goal(goal or bounds.goal)
    if not bounds.intervals:
        raise InvalidChoice(
            "The table of bounds has no rows, hence no arm to choose. Add rows."
        )
    paid = read_costs(costs, bounds, aim)
    choices = dict[Context, ContextChoice]()
    for context in bounds.contexts:
        means = MeanSet.from_table(bounds, context, paid)
        means = means if aim == "max" else means.turn()
        shares = find_minimax(means) if randomize else _find_arm(means, rule, optimism)
        found = _describe(means, context, shares, rule, optimism, aim)
        said = _write_summary(found, bounds.treatments, rule, optimism, aim)
        choices[context] = replace(found, summary=said)
    return Choice(
        bounds.outcome,
        bounds.treatments,
        bounds.context,
        rule,
        optimism,
        choices,
        bounds.confidence,
        aim,
    )


def read_costs(
    costs: Mapping[object, float] | None, bounds: BoundTable, goal: Goal
) -> dict[Arm, float]:
    """Read what arms cost, as what is subtracted from their mean outcome."""
    found = dict[Arm, float]()
    for arm, cost in (costs or {}).items():
        number = isinstance(cost, int | float) and not isinstance(cost, bool)
        if not (number and math.isfinite(cost)):
            raise InvalidChoice(f"The cost of {arm!r} is {cost!r}. Write a finite number.")
        found[bounds.read_arm(arm)] = float(cost) if goal == "max" else -float(cost)
    return found


def _require_rule(rule: str, optimism: float | None, *, randomize: bool) -> None:
    if rule not in get_args(ChoiceRule):
        known = ", ".join(map(repr, get_args(ChoiceRule)))
        raise InvalidChoice(Option("rule", rule), f" is not a rule. Use one of {known}.")
    if rule != "optimism" and optimism is not None:
        only = Option("rule", "optimism")
        raise InvalidChoice(Option("optimism"), " is for ", only, " only. Leave it out.")
    number = isinstance(optimism, int | float) and not isinstance(optimism, bool)
    if rule == "optimism" and not (number and 0 <= float(optimism or 0) <= 1):
        raise InvalidChoice(
            Option("optimism", optimism),
            " is not a number from 0 to 1. Use 0 for the lower endpoints, 1 for the upper ones.",
        )
    if randomize and rule != "minimax-regret":
        only = Option("rule", "minimax-regret")
        raise InvalidChoice(Option("randomize"), " is for ", only, " only. Leave it out.")


def _find_arm(means: MeanSet, rule: ChoiceRule, optimism: float | None) -> Floats:
    if rule == "minimax-regret":
        return find_single(means)
    shares = np.zeros(len(means.arms))
    shares[_score(means, rule, optimism).argmax()] = 1.0
    return shares


def _score(means: MeanSet, rule: ChoiceRule, optimism: float | None) -> Floats:
    if rule == "minimax-regret":
        least: Floats = -means.leads.max(axis=0)
        return least
    if rule == "maximin" or not optimism:
        return means.lowers
    found: Floats = means.lowers + optimism * (means.uppers - means.lowers)
    return means.uppers if optimism == 1 else found


def find_single(means: MeanSet) -> Floats:
    """The arm of least maximum regret; of equal ones that with the greatest lower endpoint."""
    regrets = means.leads.max(axis=0)
    order = np.lexsort((np.arange(len(regrets)), -means.uppers, -means.lowers, regrets))
    shares = np.zeros(len(regrets))
    shares[order[0]] = 1.0
    return shares


def find_minimax(means: MeanSet) -> Floats:
    """Find the probabilities of least maximum regret, in the order of arms.

    Arms that are ruled out have none, and a single arm is preferred where it is as good.

    >>> means = MeanSet.close((("a",), ("b",)), [0.1, 0.3], [0.5, 0.9], {})
    >>> find_minimax(means).round(3)
    array([0.2, 0.8])
    """
    leads, alone = means.leads, find_single(means)
    kept = np.flatnonzero(~(leads < 0).any(axis=1))
    kept = kept if len(kept) else np.arange(len(leads))
    game = leads[np.ix_(kept, kept)]
    if len(kept) == 1 or not np.isfinite(game).all():
        return alone
    found = game[[0, 1], [1, 0]].clip(min=0.0) if len(kept) == 2 else _solve_game(game)
    shares = np.zeros(len(leads))
    shares[kept] = np.where(found > ROUNDING * found.sum(), found, 0.0)
    if not shares.sum() > 0:  # a solver that gave up, or arms that are equal
        return alone
    shares /= shares.sum()
    slack = ROUNDING * float(np.abs(game).max())
    least, _ = bound_regret(leads, shares)
    return alone if bound_regret(leads, alone)[0] <= least + slack else shares


def _solve_game(leads: Floats) -> Floats:
    """Solve the matrix game by a linear program; zeros if the solver gives up."""
    n, unit = len(leads), float(np.abs(leads).max())
    if unit == 0:
        return np.full(n, 1 / n)
    rows = np.zeros((n + 1, n + 1))
    rows[:n, :n], rows[:n, n], rows[n, :n] = leads / unit, -1.0, 1.0
    program = Program(
        SparseMatrix.from_dense(rows),
        lower=np.append(np.full(n, -np.inf), 1.0),
        upper=np.append(np.zeros(n), 1.0),
        highest=np.ones(n + 1),
    )
    return np.nan_to_num(program.minimise(np.append(np.zeros(n), 1.0)).point[:n], nan=0.0)


def bound_regret(leads: Floats, shares: Floats) -> tuple[float, int]:
    """Bound the maximum regret of a randomized choice, rounded up, and find the best arm then."""
    used = np.flatnonzero(shares)
    if len(used) == 1:
        column = leads[:, used[0]]
        worst = int(column.argmax())
        return float(column[worst]), worst
    parts = leads[:, used] * shares[used]
    slack = 4 * EPS * (len(used) + 2) * np.abs(parts).sum(axis=1)
    regrets = parts.sum(axis=1) + slack
    worst = int(regrets.argmax())
    return max(float(regrets[worst]), 0.0), worst


def _describe(
    means: MeanSet,
    context: Context,
    shares: Floats,
    rule: ChoiceRule,
    optimism: float | None,
    goal: Goal,
) -> ContextChoice:
    """Write down what a choice guarantees in one context."""
    leads, sign = means.leads, 1.0 if goal == "max" else -1.0
    regret, worst = bound_regret(leads, shares)
    alone = find_single(means) if rule == "minimax-regret" else shares
    single = int(alone.argmax())
    single_regret, single_worst = bound_regret(leads, alone)
    drawn = [int(i) for i in np.flatnonzero(shares)]
    box = means.uppers[:, None] - means.lowers  # what intervals alone imply
    np.fill_diagonal(box, 0.0)
    apart, _ = bound_regret(box, shares)
    slack, nothing = (size * max(1.0, abs(apart)) for size in (ROUNDING, EXACT_ROUNDING))
    scores = _score(means, rule, optimism)
    alike = scores >= scores[single] - ROUNDING * max(1.0, abs(scores[single]))
    ruled_out = np.flatnonzero((leads < -slack).any(axis=1))
    return ContextChoice(
        context=context,
        probabilities={means.arms[i]: float(shares[i]) for i in drawn},
        max_regret=regret,
        against=means.arms[worst] if regret > nothing else None,
        floor=0.0 - sign * means.largest({means.arms[i]: -float(shares[i]) for i in drawn}),
        single=means.arms[single],
        single_regret=single_regret,
        single_against=means.arms[single_worst] if single_regret > nothing else None,
        ties=tuple(means.arms[i] for i in np.flatnonzero(alike) if i != single),
        ruled_out={means.arms[i]: means.arms[int(leads[i].argmin())] for i in ruled_out},
        by_differences=means.linked and bool(regret < apart - slack),
        marks=(means.mark,) if means.mark else (),
    )


def _write_summary(
    found: ContextChoice,
    treatments: Sequence[str],
    rule: ChoiceRule,
    optimism: float | None,
    goal: Goal,
) -> str:
    """Say which arm is chosen, with which maximum regret, and which arms are ruled out."""
    said = [f"{_write_chosen(found, treatments, rule, optimism, goal)}."]
    if found.ties:
        verb = "does" if len(found.ties) == 1 else "do"
        said.append(f"{_join_arms(treatments, found.ties)} {verb} as well.")
    if found.by_differences:
        said.append("The arms share an unknown; intervals alone would give a larger regret.")
    by_better: dict[Arm, list[Arm]] = {}
    for arm, better in found.ruled_out.items():
        by_better.setdefault(better, []).append(arm)
    for better, arms in by_better.items():
        verb = "is" if len(arms) == 1 else "are"
        named = _join_arms(treatments, arms)
        said.append(f"{named} {verb} ruled out: {write_arm(treatments, better)} is better.")
    return " ".join(said)


def _write_chosen(
    found: ContextChoice,
    treatments: Sequence[str],
    rule: ChoiceRule,
    optimism: float | None,
    goal: Goal,
) -> str:
    arm = write_arm(treatments, found.single)
    regret = _write_regret(found.max_regret, found.against, treatments)
    if len(found.probabilities) > 1:
        shown, left = cut_draw(found.probabilities, MOST_DRAWN)
        drawn = [f"{write_arm(treatments, one)} {p:.3g}" for one, p in shown.items()]
        if left:
            drawn.append(f"one of {len(left)} more {sum(left.values()):.3g}")
        single = _write_regret(found.single_regret, found.single_against, treatments)
        return f"Draw with probabilities {_join(drawn)}; {regret}. Without drawing: {arm}; {single}"
    if rule == "maximin":
        least = f"at least {write_at_least(found.floor)}"
        if goal == "min":
            least = f"at most {write_at_most(found.floor)}"
        return f"{arm} has the best guaranteed mean, {least}; {regret}"
    if rule == "optimism":
        return f"{arm} is best by optimism {optimism:g}; {regret}"
    return f"{arm} is best" if found.against is None else f"{arm}; {regret}"


def _write_regret(regret: float, against: Arm | None, treatments: Sequence[str]) -> str:
    if against is None:
        return "no arm is better"
    return (
        f"maximum regret {write_promise(regret)}, if {write_arm(treatments, against)} is best"
    )


def _join_arms(treatments: Sequence[str], arms: Sequence[Arm]) -> str:
    if len(arms) > _MOST_NAMED:
        return f"{len(arms)} other arms"
    return _join([write_arm(treatments, arm) for arm in arms])


def _join(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))

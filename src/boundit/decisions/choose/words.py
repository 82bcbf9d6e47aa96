"""A choice in plain sentences: the best mean, how far from it an arm may be, who is ruled out."""

from collections.abc import Mapping, Sequence

from boundit.results.bound import Arm, Goal
from boundit.results.choice import (
    MOST_DRAWN,
    ChoiceRule,
    ContextChoice,
    cut_lottery,
    write_at_least,
    write_at_most,
    write_promise,
)
from boundit.results.text import write_arm

EXTREME: Mapping[Goal, str] = {"max": "highest", "min": "lowest"}
_MOST_NAMED = 3
"""How many arms a sentence names; of more it says how many."""


def describe_choice(
    found: ContextChoice,
    outcome: str,
    treatments: Sequence[str],
    rule: ChoiceRule,
    optimism: float | None,
    goal: Goal = "max",
) -> str:
    """Say which arm has the best mean in one context, how surely, and which have not."""
    said = [_describe_use(found, outcome, treatments, rule, optimism, goal)]
    if found.ties:
        said.append(f"{_join_arms(treatments, found.ties)} would come as near.")
    if len(found.lottery) > 1:
        single = write_arm(treatments, found.single)
        cost = _describe_cost(found.single_regret, found.single_against, treatments, goal)
        said.append(f"Without a draw: {single}; {cost}.")
    if found.by_differences:
        said.append("Intervals alone would promise less: one unknown moves these arms alike.")
    said += _describe_ruled_out(found.ruled_out, treatments, goal)
    return " ".join(said)


def _describe_use(
    found: ContextChoice,
    outcome: str,
    treatments: Sequence[str],
    rule: ChoiceRule,
    optimism: float | None,
    goal: Goal,
) -> str:
    """Say which arm or lottery is chosen, and why."""
    best = f"{EXTREME[goal]} mean of {outcome}"
    cost = _describe_cost(found.regret, found.against, treatments, goal)
    if len(found.lottery) > 1:
        shown, left = cut_lottery(found.lottery, MOST_DRAWN)
        drawn = [
            f"{write_arm(treatments, arm)} with chance {chance:.3g}"
            for arm, chance in shown.items()
        ]
        if left:
            drawn.append(f"one of {len(left)} more with chance {sum(left.values()):.3g}")
        return f"Nearest to the {best}: draw {_join(drawn)}; on average over the draw, {cost}."
    arm = write_arm(treatments, found.single)
    match rule:
        case "maximin":
            sure = f"at least {write_at_least(found.floor)}"
            if goal == "min":
                sure = f"at most {write_at_most(found.floor)}"
            return f"{best[0].upper()}{best[1:]} that is sure: {arm}, {sure}; {cost}."
        case "optimism":
            return f"{best[0].upper()}{best[1:]} with optimism {optimism:g}: {arm}; {cost}."
        case _ if found.against is None:
            return f"{best[0].upper()}{best[1:]}: {arm}, whatever is true."
        case _:
            return f"Nearest to the {best}: {arm}; {cost}."


def _describe_cost(
    regret: float, against: Arm | None, treatments: Sequence[str], goal: Goal
) -> str:
    """Say how far from the best mean an arm is at worst, and whose mean that is then."""
    better, away = ("higher", "below") if goal == "max" else ("lower", "above")
    if against is None:
        return f"no arm has a {better} mean, whatever is true"
    other, less = write_arm(treatments, against), write_promise(regret)
    return f"at worst it is {less} {away} that of {other}"


def _describe_ruled_out(
    ruled_out: Mapping[Arm, Arm], treatments: Sequence[str], goal: Goal
) -> list[str]:
    """Say which arms are worse than another in every case, those with the same one together."""
    better = "higher" if goal == "max" else "lower"
    by_rival: dict[Arm, list[Arm]] = {}
    for arm, rival in ruled_out.items():
        by_rival.setdefault(rival, []).append(arm)
    return [
        f"{_join_arms(treatments, arms)} {'is' if len(arms) == 1 else 'are'} ruled out: "
        f"the mean of {write_arm(treatments, rival)} is surely {better}."
        for rival, arms in by_rival.items()
    ]


def _join_arms(treatments: Sequence[str], arms: Sequence[Arm]) -> str:
    """Name a few arms, or say how many there are."""
    if len(arms) > _MOST_NAMED:
        return f"{len(arms)} other arms"
    return _join([write_arm(treatments, arm) for arm in arms])


def _join(parts: Sequence[str]) -> str:
    """Join parts of a sentence: ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))

"""A choice in plain sentences: what to use, what it may cost, and which arms are out."""

from collections.abc import Mapping, Sequence

from boundit.terms.bound import Arm
from boundit.terms.choices.choice import (
    MOST_DRAWN,
    ChoiceRule,
    ContextChoice,
    cut_lottery,
    write_arm,
    write_at_least,
    write_promise,
)

_MOST_NAMED = 3
"""How many arms a sentence names; of more it says how many."""


def describe_choice(
    found: ContextChoice, treatments: Sequence[str], rule: ChoiceRule, optimism: float | None
) -> str:
    """Say what to use in one context, what it may cost, and which arms are ruled out.

    Called by ``_choose_in`` for every context.
    """
    said = [_describe_use(found, treatments, rule, optimism)]
    if found.ties:
        said.append(f"{_join_arms(treatments, found.ties)} would do as well.")
    if len(found.lottery) > 1:
        single = write_arm(treatments, found.single)
        cost = _describe_cost(found.single_regret, found.single_against, treatments)
        said.append(f"Without a draw, use {single}: {cost}.")
    if found.by_differences:
        said.append("Intervals alone would promise less: one unknown moves these arms alike.")
    said += _describe_ruled_out(found.ruled_out, treatments)
    return " ".join(said)


def _describe_use(
    found: ContextChoice, treatments: Sequence[str], rule: ChoiceRule, optimism: float | None
) -> str:
    """Say which arm or lottery to use, and why. Called by ``describe_choice``."""
    cost = _describe_cost(found.regret, found.against, treatments)
    if len(found.lottery) > 1:
        shown, left = cut_lottery(found.lottery, MOST_DRAWN)
        drawn = [
            f"{write_arm(treatments, arm)} with chance {chance:.3g}"
            for arm, chance in shown.items()
        ]
        if left:
            drawn.append(f"one of {len(left)} more with chance {sum(left.values()):.3g}")
        return f"Draw {_join(drawn)}: on average over the draw, {cost}."
    use = f"Use {write_arm(treatments, found.single)}"
    match rule:
        case "maximin":
            least = f"it earns {write_at_least(found.floor)} at least"
            return f"{use}: {least}, and no arm or lottery is sure of more; {cost}."
        case "optimism":
            return f"{use}: with optimism {optimism:g} it scores most; {cost}."
        case _:
            return f"{use}: {cost}."


def _describe_cost(regret: float, against: Arm | None, treatments: Sequence[str]) -> str:
    """Say how much less than the best arm is earned at worst, and which arm that is then.

    Called by ``describe_choice`` and ``_describe_use``.
    """
    if against is None:
        return "no arm earns more, whatever is true"
    best, less = write_arm(treatments, against), write_promise(regret)
    return f"at worst it earns {less} less than the best arm, which is then {best}"


def _describe_ruled_out(ruled_out: Mapping[Arm, Arm], treatments: Sequence[str]) -> list[str]:
    """Say which arms surely earn less than another, those with the same rival together.

    Called by ``describe_choice``.
    """
    by_rival: dict[Arm, list[Arm]] = {}
    for arm, rival in ruled_out.items():
        by_rival.setdefault(rival, []).append(arm)
    return [
        f"{_join_arms(treatments, arms)} {'is' if len(arms) == 1 else 'are'} ruled out: "
        f"{write_arm(treatments, rival)} surely earns more."
        for rival, arms in by_rival.items()
    ]


def _join_arms(treatments: Sequence[str], arms: Sequence[Arm]) -> str:
    """Name a few arms, or say how many there are.

    Called by ``describe_choice`` and ``_describe_ruled_out``.
    """
    if len(arms) > _MOST_NAMED:
        return f"{len(arms)} other arms"
    return _join([write_arm(treatments, arm) for arm in arms])


def _join(parts: Sequence[str]) -> str:
    """Join parts of a sentence: ``a, b and c``. Called by ``_join_arms``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))

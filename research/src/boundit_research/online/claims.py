"""What the paper says of its online half, and what the runs say of that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from boundit.simulation.policies import PCB, WEIGHTS
from boundit.simulation.regret import Regret
from boundit.simulation.summary import Line
from boundit_research.online.logs import write_interval
from boundit_research.online.study import OnlineStudy, WorldRegret

ClaimOutcome: TypeAlias = Literal["holds", "holds under a condition", "does not hold", "open"]
"""Open: the runs leave it to chance."""
_OAM_NEEDS = "; OAM gains where a lower end rules an arm out"
"""D-43: upper ends alone leave its pulls as they are."""


@dataclass(frozen=True, slots=True)
class OnlineClaim:
    """A sentence of the paper beside what was simulated, with the numbers that show it."""

    place: str
    printed: str
    found: str
    outcome: ClaimOutcome


def judge_online_claims(study: OnlineStudy, near_tie: Regret) -> tuple[OnlineClaim, ...]:
    """Judge what the paper says of regrets, by paired 95 % intervals of the study's runs.

    Gives each sentence of the paper with whether it holds and the numbers. Intervals are
    corrected where there are several; ``near_tie`` is what ``run_theorem6`` found.
    """
    return (
        _judge_lowest_regret(study.paper),
        _judge_gain_from_bounds(study.paper, "UCB"),
        _judge_gain_from_bounds(study.paper, "OAM", needs=_OAM_NEEDS),
        _judge_warm_starts(study.paper, "Online Bandit Learning, the paper's world"),
        _judge_warm_starts(study.flip, "the same where bias flips the best arm"),
        _judge_theorem6(near_tie),
    )


def _judge_lowest_regret(played: WorldRegret) -> OnlineClaim:
    """Judge the claim that LinUCB-PCB (LinUCB with bounds) regrets least.

    Compared are LinUCB without bounds and every warm start from a biased estimate.
    """
    warm = [name for name in played.regret.policies if name.startswith("LinUCB_")]
    lines = played.regret.only(f"LinUCB{PCB}", "LinUCB", *warm).summary(correction="holm")
    others = lines[1:]
    below = [line.policy for line in others if line.less_lower > 0]
    above = [line.policy for line in others if line.less_upper < 0]
    outcome: ClaimOutcome = "holds" if len(above) == len(others) else "holds under a condition"
    if below:
        outcome = "does not hold"
    elif "LinUCB" not in above:
        outcome = "open"
    gain = _describe_gain(played.compare(f"LinUCB{PCB}", than="LinUCB"), "LinUCB")
    more, less = (len(set(names) & set(warm)) for names in (above, below))
    found = f"{gain}; of {len(warm)} warm starts {more} regret more beyond chance, {less} less"
    return OnlineClaim(
        "Online Bandit Learning",
        "LinUCB-PCB achieves the lowest regret compared to the baselines",
        found,
        outcome,
    )


def _judge_gain_from_bounds(played: WorldRegret, kind: str, *, needs: str = "") -> OnlineClaim:
    """Judge whether bounds lower the regret of policy ``kind``; ``needs`` says what that takes."""
    line = played.compare(kind + PCB, than=kind)
    found, outcome = _describe_gain(line, kind), _judge_differences([line])
    regret = played.regret if kind in played.regret.policies else played.oam
    without, bounded = regret.only(kind, kind + PCB).curves
    alike = int((without == bounded).all(axis=1).sum())
    if outcome == "open" and alike > regret.runs / 2:
        found = (
            f"the bounds change hardly any pull: in {alike} of {regret.runs} runs the regret "
            f"is the same at all {len(regret.at)} rounds on record; {found}{needs}"
        )
        outcome = "holds under a condition"
    place, printed = "appendix, extensions", f"prior bounds lower the regret of {kind}"
    return OnlineClaim(place, printed, found, outcome)


def _judge_warm_starts(played: WorldRegret, place: str) -> OnlineClaim:
    """Judge the claim that LinUCB regrets more when started from a biased estimate of the log.

    For each such warm start in one world.
    """
    names = [f"LinUCB_{of}-{rows}" for of in ("CP", "Biased") for rows in WEIGHTS]
    lines = played.regret.only("LinUCB", *names).summary(correction="holm")[1:]
    worse = [line for line in lines if line.less_upper < 0]
    better = [line for line in lines if line.less_lower > 0]
    found = (
        f"of {len(lines)} starts {len(worse)} regret more beyond chance "
        f"({_list_losses(worse)}), {len(better)} less ({_list_losses(better)})"
    )
    outcome: ClaimOutcome = "holds under a condition" if worse else "does not hold"
    if len(worse) == len(lines):
        outcome = "holds"
    return OnlineClaim(
        place, "LinUCB_Biased and LinUCB_CP perform worse than LinUCB", found, outcome
    )


def _judge_theorem6(near_tie: Regret) -> OnlineClaim:
    """Judge the paper's Theorem 6: LinUCB with valid bounds regrets less than without.

    By its regret with and without a bound in a near tie, a world of two almost equal arms.
    """
    without, bounded = near_tie.summary()
    found = (
        f"near tie, valid bound: {without.mean:.3f} ± {without.error:.3f} without, "
        f"{bounded.mean:.3f} ± {bounded.error:.3f} with the bound"
    )
    outcome: ClaimOutcome = "does not hold" if bounded.less_upper < 0 else "open"
    printed = "LinUCB-PCB is guaranteed to achieve lower cumulative regret than LinUCB"
    return OnlineClaim("Theorem 6", printed, found, outcome)


def _judge_differences(lines: Sequence[Line]) -> ClaimOutcome:
    """Judge whether every policy regrets less with bounds, by intervals of the differences.

    Holds, does not, or open when an interval holds zero and none lies below it.
    """
    if all(line.less_lower > 0 for line in lines):
        return "holds"
    return "does not hold" if any(line.less_upper < 0 for line in lines) else "open"


def _describe_gain(line: Line, other: str) -> str:
    """Say how much less a policy regrets than another, with the 95 % interval."""
    return (
        f"{line.policy} regrets {line.mean:.1f}, less than {other} by {line.less:.1f} "
        f"{write_interval(line.less_lower, line.less_upper)}"
    )


def _list_losses(lines: Sequence[Line]) -> str:
    """List policies with how much more each regrets than LinUCB."""
    return ", ".join(f"{line.policy} {-line.less:+.0f}" for line in lines) or "none"

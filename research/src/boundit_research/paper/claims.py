"""What the paper claims, each beside the number that says whether it holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from boundit.bounds.derive import derive_bounds
from boundit.core.interval import Interval
from boundit.core.rounding import ROUNDING
from boundit.estimand.query import parse_query
from boundit.estimand.substitutes import find_substitutes
from boundit.simulation.environment import Environment
from boundit.simulation.environments import paper_environment
from boundit.simulation.regret import Regret
from boundit.simulation.scm import SCM
from boundit_research.online.claims import OnlineClaim, judge_online_claims
from boundit_research.online.study import OnlineStudy
from boundit_research.paper.offline_bounds import OfflineStudy
from boundit_research.paper.worked_example import check_worked_example

Judgement: TypeAlias = Literal["holds", "holds under a condition", "does not hold"]
UNDER: Final = "holds under a condition"


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of a text, whether it holds, and the number that shows it."""

    place: str
    said: str
    judgement: Judgement
    shown: str


def judge_paper_claims(
    offline: OfflineStudy, online: OnlineStudy, near_tie: Regret
) -> tuple[JudgedClaim, ...]:
    """Judge what the paper claims by what was recomputed, in the paper's order.

    Gives each claim with its outcome and the number that shows it.
    """
    return (
        *(
            JudgedClaim(
                c.place,
                c.printed,
                "holds" if c.holds else "does not hold",
                f"found: {c.found}",
            )
            for c in check_worked_example()
        ),
        _judge_printed_method(),
        _judge_theorem4(),
        *_judge_offline_table(offline),
        *map(_convert_online_claim, judge_online_claims(online, near_tie)),
    )


def make_substitute_world() -> Environment:
    """Make a world in which Theorem 4 of the paper is misled (D-16).

    There it takes setting W for a substitute of an intervention, which it is not. Z is a fair
    coin, W copies it nine times of ten, and Y says whether it did. Setting W by hand leaves Y a
    fair coin, whatever w; what W does by itself makes it 0.9.

    >>> make_substitute_world().mean(arm=0)
    0.9
    """
    model = SCM.of(
        {
            "X": ([], 0.5),
            "Z": ([], 0.5),
            "W": (["Z"], [0.1, 0.9]),
            "Y": (["W", "Z"], [[1.0, 0.0], [0.0, 1.0]]),
        }
    )
    return Environment(model, parse_query("Y | do(X)"), "the substitute")


def _judge_printed_method() -> JudgedClaim:
    """Judge whether the paper's Algorithm 1 (BCE), as printed, bounds all of its own example.

    Counts the arms and contexts whose interval says more than [0, 1].
    """
    world = paper_environment()
    log, asked = world.exact_log(), (world.graph, world.query)
    found = derive_bounds(*asked, log, profile="paper", confidence=None).bounds.values()
    useful = sum(bound.interval.width < 1 for bound in found)
    return JudgedClaim(
        "Algorithm 1 on the worked example",
        "BCE bounds every arm and context",
        "holds" if useful == len(found) else "does not hold",
        f"as printed, {useful} of {len(found)} intervals say more than [0, 1]",
    )


def _judge_theorem4() -> JudgedClaim:
    """Judge the paper's Theorem 4 on a world where it gives an interval without the truth.

    It bounds an effect by substitutes: interventions on other variables.
    """
    world = make_substitute_world()
    found = find_substitutes(
        world.graph, outcomes="Y", treatments="X", context=(), form="paper", tables=()
    )
    accepted = any(substitute.variables == frozenset("W") for substitute in found)
    both = Environment(world.model, parse_query("Y | do(X, W)")).means().values()
    span, truth = Interval(min(both), max(both)), world.mean(arm=0)
    missed = accepted and not span.lower - ROUNDING <= truth <= span.upper + ROUNDING
    return JudgedClaim(
        "Theorem 4",
        "min and max over w of the substitute intervention hold the effect",
        UNDER if missed else "holds",
        f"FindRSI accepts a W that may not be exchanged: {span} beside the truth {truth:g}",
    )


def _judge_offline_table(study: OfflineStudy) -> Iterator[JudgedClaim]:
    """Judge the bounds of the paper's offline table, and its column Truth."""
    n = len(study.rows)
    printed = sum(row.printed_misses for row in study.rows)
    ours = sum(row.truth not in row.ours for row in study.rows)
    plug_in = sum(row.truth not in row.plug_in for row in study.rows)
    yield JudgedClaim(
        "offline table, BCE",
        "the printed bounds hold the truth",
        "does not hold" if printed else "holds",
        f"{printed} of {n} printed rows miss what the probabilities imply; of our bounds "
        f"{ours} miss at confidence 0.95 and {plug_in} as plug-in",
    )
    gap = max(abs(row.printed.truth - row.truth) for row in study.rows)
    yield JudgedClaim(
        "offline table, Truth",
        "the column is the effect",
        "does not hold" if gap > 0.05 else "holds",
        f"it is off by up to {gap:.3f} from what the probabilities imply",
    )


def _convert_online_claim(claim: OnlineClaim) -> JudgedClaim:
    """Turn a claim about regrets into one of the paper's claims with its outcome.

    What the runs leave open holds under a condition.
    """
    if claim.outcome == "open":
        words = f"{claim.found}; these runs leave it open"
        return JudgedClaim(claim.place, claim.printed, UNDER, words)
    return JudgedClaim(claim.place, claim.printed, claim.outcome, claim.found)

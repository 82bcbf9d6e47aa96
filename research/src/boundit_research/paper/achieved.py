"""What the method achieves, in words: how the page of the recomputed paper begins."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from boundit.simulation.regret import Regret
from boundit_research.online.study import OWN_LOGS
from boundit_research.paper.claims import Judgement
from boundit_research.paper.reproduction import Reproduction

_WORLDS = "In the paper's world", "Where bias flips the best arm"
_PAPER = (
    "Huang and Wu, Robustly Improving Bandit Algorithms with Confounded and Selection Biased "
    "Offline Data: A Causal Approach (AAAI 2024)."
)


def describe_achieved(found: Reproduction) -> tuple[str, ...]:
    """Say what bounds from a biased log achieve: truth held, arms ruled out, regret saved."""
    rows = found.offline.rows
    missed = sum(row.truth not in row.ours for row in rows)
    printed = sum(row.printed_misses for row in rows)
    held = f"hold the truth in {len(rows) - missed} of {len(rows)} cases"
    verdict = f"Bounds from the biased log {held}; those the paper prints miss it in {printed}."
    return (
        verdict,
        " ".join(_describe_regrets(found)),
        f"Means of {found.online.paper.own_logs.runs:,} runs, each with a log of its own; the "
        "tables have their 95% intervals. The confidence of bounds is 0.95.",
        f"Claims: {_count_claims(found)}",
        f"{_PAPER} Every number of this page was computed by the command at its end.",
    )


def _describe_regrets(found: Reproduction) -> Iterator[str]:
    """Say for each world what policies regret without bounds, with them, and with all rows."""
    played = found.online.paper.own_logs, found.online.flip.own_logs
    for where, regret in zip(_WORLDS, played, strict=True):
        yield _describe_regret(where, regret)
    yield "Fused, which counts rows of the log and rounds together, is the one we recommend."


def _describe_regret(where: str, regret: Regret) -> str:
    """Say what each policy regrets at the end in one world.

    What each starts from is part of its name: nothing, bounds, or the rows of the log.
    """
    plain, bounded, fused = OWN_LOGS
    means = {line.policy: f"{line.mean:,.1f}" for line in regret.summary()}
    return (
        f"{where} {plain} regrets {means[plain]} after {regret.rounds:,} rounds, "
        f"{means[bounded]} from bounds ({bounded}), and {fused} {means[fused]}."
    )


def _count_claims(found: Reproduction) -> str:
    """Say how many of the paper's claims hold."""
    tally = Counter(claim.judgement for claim in found.claims)
    counted = ", ".join(f"{tally[words]} {words}" for words in get_args(Judgement))
    return f"Of {len(found.claims)}: {counted}. See “What the paper claims”."

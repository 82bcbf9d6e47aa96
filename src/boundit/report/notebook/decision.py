"""A decision of a policy in a notebook: the arm, and the score of every arm that was scored."""

from math import isinf

from boundit.bandit.decision import Decision
from boundit.report.notebook.snippet import (
    MOST_ROWS,
    describe_cut,
    write_snippet,
    write_table,
    write_words,
)
from boundit.report.text.lettering import format_level
from boundit.results.bound import Value


def show_decision(decision: Decision) -> str:
    """Write a decision as HTML for a notebook, the chosen arm first."""
    truncated, chances = frozenset(decision.truncated), decision.propensities
    ranked = sorted(
        decision.scores.items(), key=lambda scored: (scored[0] != decision.arm, -scored[1])
    )
    rows = [
        (
            _join_values(arm if isinstance(arm, tuple) else (arm,)),
            "not played yet" if isinf(score) else f"{score:.4g}",
            f"{chances[arm]:.3g}" if arm in chances else "",
            ", ".join(
                said
                for said, holds in (
                    ("chosen", arm == decision.arm),
                    ("truncated to the bounds", arm in truncated),
                )
                if holds
            ),
        )
        for arm, score in ranked[:MOST_ROWS]
    ]
    context = decision.context_values
    where = f" in context {_join_values(context)}" if context else ""
    branch = f"; chosen by: {decision.branch}" if decision.branch else ""
    skipped, n_skipped = "", len(chances) - len(ranked)
    if n_skipped > 0:
        were = "arm was" if n_skipped == 1 else "arms were"
        skipped = f"{n_skipped:,} {were} not scored: their bounds rule them out."
    head = ("arm", "score", "propensity", "remark")
    return write_snippet(
        f"Use {_join_values(decision.arm_values)}{where}",
        write_table(head, rows, caption="", right=(1, 2)) if rows else "",
        write_words(describe_cut(len(rows), len(ranked), "decision.scores"), skipped),
        write_words(f"Decision {decision.id}{branch}"),
    )


def _join_values(values: tuple[Value, ...]) -> str:
    """Write the values of an arm or context."""
    return ", ".join(map(format_level, values)) or "everyone"

"""Do the bounds hold? Random models whose truth is known, exact distributions in, misses counted.

Both profiles bound the same effects from the same exact distribution, and profile ``sound`` once
more with the true selection rate known. A miss is a truth outside an interval, an effect outside
the bounds on it, or a true graph that is refuted. A third of the models are of odd shape.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from boundit.core.rounding import ROUNDING
from boundit_research.audits.problems import (
    REFUTED,
    Problem,
    bound_problem,
    classify_rule,
    draw_problems,
    list_effects,
    list_missed,
)
from boundit_research.audits.report import Report, judge_each

ODD = 1 / 3
"""Which share of the models has zeros, tables that are nearly deterministic, or rare rows."""
RATE_KNOWN = "sound, selection rate known"
PROFILES = ("sound", RATE_KNOWN, "paper")


@dataclass(frozen=True, slots=True)
class Miss:
    """An interval that leaves the truth out."""

    model: int
    graph: str
    query: str
    row: str
    profile: str


@dataclass
class ProfileTally:
    """How one profile of bounds did: rows, effects, misses, points, widths.

    ``effects`` are those of an arm in a context, or averages over contexts.
    ``selected`` are rows whose outcome itself has an edge to the selection node: hardly any rule
    says something of it. ``by_rule`` counts the endpoints that each kind of rule gave.
    """

    rows: int = 0
    effects: int = 0
    misses: int = 0
    missed_models: int = 0
    points: int = 0
    trivial: int = 0
    width: float = 0.0
    selected: int = 0
    selected_useful: int = 0
    by_rule: dict[str, int] = field(default_factory=dict)

    @property
    def mean_width(self) -> float:
        """The mean width of all intervals, trivial ones included."""
        return self.width / max(self.rows, 1)

    @property
    def share_useful(self) -> float:
        """The share of intervals that say more than the outcome's range."""
        return 1 - self.trivial / max(self.rows, 1)

    @property
    def share_useful_unselected(self) -> float:
        """The share of useful intervals where the outcome has no edge to the selection node."""
        useful = self.rows - self.trivial - self.selected_useful
        return useful / max(self.rows - self.selected, 1)


@dataclass
class AuditReport(Report):
    """What each profile did, and all misses."""

    tallies: dict[str, ProfileTally] = field(
        default_factory=lambda: {p: ProfileTally() for p in PROFILES}
    )
    misses: list[Miss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when profile ``sound`` never missed, the rate known or not."""
        return not any(self.tallies[name].misses for name in PROFILES if name != "paper")

    def record(self) -> dict[str, Any]:
        """All that was found, with means and shares."""
        found = super().record()
        for name, tally in self.tallies.items():
            found["tallies"][name] |= {
                "mean_width": tally.mean_width,
                "share_useful": tally.share_useful,
                "share_useful_unselected": tally.share_useful_unselected,
            }
        return found

    def __str__(self) -> str:
        """Say how many intervals of each profile miss, and how wide they are."""
        lines = [
            f"{self.models:,} random models, a third of odd shape, seed {self.seed}, exact "
            "distributions",
            f"{'profile':<28}{'intervals':>10}{'misses':>8}{'in models':>11}"
            f"{'mean width':>12}{'useful':>8}{'unselected':>12}{'points':>8}",
        ]
        lines += [
            f"{name:<28}{tally.rows:>10,}{tally.misses:>8,}{tally.missed_models:>11,}"
            f"{tally.mean_width:>12.3f}{tally.share_useful:>8.1%}"
            f"{tally.share_useful_unselected:>12.1%}{tally.points / max(tally.rows, 1):>8.1%}"
            for name, tally in self.tallies.items()
        ]
        effects = ", ".join(f"{tally.effects:,}" for tally in self.tallies.values())
        lines.append(f"effects held against the truth as well: {effects}; misses are of both")
        lines.append("useful: narrower than the range; unselected: no edge from outcome to S")
        lines += [
            f"missed: model {miss.model}, {miss.profile}, {miss.query} on {miss.graph}; {miss.row}"
            for miss in [miss for miss in self.misses if miss.profile != "paper"][:10]
        ]
        return "\n".join(lines)


def audit_bounds(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> AuditReport:
    """Bound ``models`` random problems by every profile and count what leaves the truth out.

    >>> report = audit_bounds(20)
    >>> report.models, report.tallies["sound"].misses
    (20, 0)
    """
    report = AuditReport(seed)

    def judge(problem: Problem) -> None:
        for profile in PROFILES:
            _judge_profile(problem, profile, report)

    judge_each(report, draw_problems(seed, models, odd=ODD), judge, progress)
    return report


def _judge_profile(problem: Problem, profile: str, report: AuditReport) -> None:
    """Bound one problem by one profile, and count what leaves the truth out."""
    tally, selected = report.tallies[profile], _is_selected(problem)
    rate_known = profile == RATE_KNOWN
    try:
        table = bound_problem(
            problem, "paper" if profile == "paper" else "sound", rate_known=rate_known
        )
    except REFUTED as refuted:
        missed = [str(refuted)]
    else:
        truth = problem.find_truth()
        missed = list_missed(table, truth)
        tally.effects += sum(1 for _ in list_effects(table, truth))
        for bound in table.bounds.values():
            width = bound.upper - bound.lower
            tally.rows += 1
            tally.width += width
            tally.points += width < ROUNDING
            tally.trivial += width > 1 - ROUNDING
            tally.selected += selected
            tally.selected_useful += selected and width <= 1 - ROUNDING
            for kind in map(classify_rule, (bound.lower_rule, bound.upper_rule)):
                tally.by_rule[kind] = tally.by_rule.get(kind, 0) + 1
    tally.misses += len(missed)
    tally.missed_models += bool(missed)
    graph, query = str(problem.model.graph), str(problem.query)
    report.misses += [Miss(report.models, graph, query, row, profile) for row in missed]


def _is_selected(problem: Problem) -> bool:
    """Tell whether the outcome itself has an edge to the selection node."""
    graph = problem.model.graph
    if graph.selection is None:
        return False
    beside = graph.links[graph.selection]
    return problem.outcome in beside.parents + beside.siblings

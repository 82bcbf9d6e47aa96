"""Do the bounds hold? Random models whose truth is known, exact laws in, misses counted.

Both profiles bound the same effects from the same exact law, and profile ``sound`` once more
with the true selection rate known. A miss is a truth outside an interval, or two arms that
differ by more than the table says they can.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from boundit.terms.bound import Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.rounding import ROUNDING
from boundit_research.audits.problems import Problem, bound_problem, draw_problems, read_levels

RATE_KNOWN = "sound, selection rate known"
PROFILES = ("sound", RATE_KNOWN, "paper")


@dataclass(frozen=True, slots=True)
class Miss:
    """An interval that leaves the truth out."""

    graph: str
    query: str
    row: str
    profile: str


@dataclass
class ProfileTally:
    """How one profile of bounds did: rows, misses, points, widths.

    A row is *steered* when the outcome itself has an edge to the selection node: hardly any
    rule can say something of it. ``by_rule`` counts the ends that each kind of rule gave.
    """

    rows: int = 0
    missed_rows: int = 0
    missed_models: int = 0
    points: int = 0
    trivial: int = 0
    width: float = 0.0
    steered: int = 0
    steered_useful: int = 0
    by_rule: dict[str, int] = field(default_factory=dict)
    contrasts: int = 0
    missed_contrasts: int = 0

    @property
    def misses(self) -> int:
        """The number of intervals and differences of arms that leave the truth out."""
        return self.missed_rows + self.missed_contrasts

    @property
    def mean_width(self) -> float:
        """The mean width of all intervals, trivial ones included."""
        return self.width / self.rows if self.rows else 0.0

    @property
    def share_useful(self) -> float:
        """The share of intervals that say more than the reward's range."""
        return 1 - self.trivial / self.rows if self.rows else 0.0

    @property
    def share_useful_unsteered(self) -> float:
        """The share of useful intervals where the outcome has no edge to the selection node."""
        useful = self.rows - self.trivial - self.steered_useful
        return useful / (self.rows - self.steered) if self.rows > self.steered else 0.0


@dataclass
class AuditReport:
    """What an audit found, and the seed that repeats it."""

    seed: int
    models: int = 0
    tallies: dict[str, ProfileTally] = field(
        default_factory=lambda: {p: ProfileTally() for p in PROFILES}
    )
    misses: list[Miss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when profile ``sound`` never missed, the rate known or not."""
        return not any(self.tallies[name].misses for name in PROFILES if name != "paper")


def audit_bounds(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> AuditReport:
    """Bound ``models`` random problems by every profile and count what leaves the truth out.

    Gives the counts of each profile (``sound``, ``sound`` with the selection rate known,
    ``paper``) and the misses. ``progress`` is called with how many models are done. A Ctrl-C ends
    the audit with what is done.

    >>> report = audit_bounds(20)
    >>> report.models, report.tallies["sound"].missed_rows
    (20, 0)
    """
    report = AuditReport(seed)
    try:
        for problem in draw_problems(seed, models):
            for profile in PROFILES:
                _judge_profile(problem, profile, report)
            report.models += 1
            progress(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise
    return report


def _judge_profile(problem: Problem, profile: str, report: AuditReport) -> None:
    """Bound one problem by one profile, and count what leaves the truth out.

    That is intervals of arms, and contrasts: bounds on the difference of two arms.
    """
    table = bound_problem(
        problem,
        "paper" if profile == "paper" else "sound",
        rate_known=profile == RATE_KNOWN,
    )
    query = problem.query
    truth = problem.model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({query.outcomes[0]: 1})
    values = {key: float(truth.at(read_levels(table, key))) for key in table.bounds}
    tally, steered = report.tallies[profile], _is_steered(problem)
    missed = [_count_row(table, key, value, tally, steered) for key, value in values.items()]
    missed += _count_contrasts(table, values, tally)
    for row in filter(None, missed):
        report.misses.append(Miss(str(problem.model.graph), str(query), row, profile))
    tally.missed_models += any(missed)


def _count_row(
    table: BoundTable,
    key: Key,
    value: float,
    tally: ProfileTally,
    steered: bool,  # noqa: FBT001, a row is or is not
) -> str:
    """Count one interval in the tally of its profile: its width, rules, and whether it misses.

    Gives a sentence on where the truth is if it is outside, else nothing.
    """
    bound = table.bounds[key]
    width = bound.upper - bound.lower
    tally.rows += 1
    tally.width += width
    tally.points += width < ROUNDING
    tally.trivial += width > 1 - ROUNDING
    tally.steered += steered
    tally.steered_useful += steered and width <= 1 - ROUNDING
    for rule in (bound.lower_rule, bound.upper_rule):
        kind = _classify_rule(rule)
        tally.by_rule[kind] = tally.by_rule.get(kind, 0) + 1
    if bound.lower - ROUNDING <= value <= bound.upper + ROUNDING:
        return ""
    tally.missed_rows += 1
    return f"{read_levels(table, key)}: {value:.6g} outside {bound.interval}"


def _count_contrasts(
    table: BoundTable, values: dict[Key, float], tally: ProfileTally
) -> list[str]:
    """Count bounds on differences of two arms, and list those that the true difference exceeds."""
    missed = []
    for (context, one, other), most in table.contrasts.items():
        tally.contrasts += 1
        lead = values[one, context] - values[other, context]
        if lead > most + ROUNDING:
            tally.missed_contrasts += 1
            missed.append(f"{one} leads {other} in {context} by {lead:.6g}, at most {most:.6g}")
    return missed


def _is_steered(problem: Problem) -> bool:
    """Tell whether the outcome itself has an edge to the selection node."""
    graph = problem.model.graph
    if graph.selection is None:
        return False
    beside = graph.links[graph.selection]
    return problem.query.outcomes[0] in beside.parents + beside.siblings


def _classify_rule(rule: str) -> str:
    """Name the kind of a bound's rule: the last link of a chain, without its variables.

    >>> rules = ("exact recovery", "conditioning on M, then program over X")
    >>> [_classify_rule(rule) for rule in rules]
    ['exact recovery', 'program']
    """
    last = rule.rsplit(", then ", maxsplit=1)[-1]
    kinds = ("exact recovery", "natural bounds", "c-component factorization")
    return next((kind for kind in kinds if last.startswith(kind)), last.split()[0])

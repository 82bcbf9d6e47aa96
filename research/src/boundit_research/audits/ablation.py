"""What each part buys: the same logs bounded without it, and what a policy then regrets.

Parts are the distributions that a link of a chain can have, chains with a natural value beside
the arm, the program, the kinds of confidence bounds beside cell intervals, differences of arms,
and all named policies; each has a line. A part is taken away from outside, after the search: what
the search leaves out because the part is there stays left out, so that a line says what is lost
if the part alone goes. Without a policy, the one of the others is played in each environment that
regrets least in other runs of it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.random import Generator

from boundit.bounds import chain as chains
from boundit.bounds import derive, table
from boundit.bounds.chain import Chain, Distribution, Meet, Natural
from boundit.bounds.effects import compare_arms
from boundit.bounds.evidence import Evidence
from boundit.bounds.inference import exact
from boundit.bounds.inference.base import Rule
from boundit.bounds.inference.forms import SumForm
from boundit.bounds.plan import BoundPlan, plan_bounds
from boundit.bounds.program.rule import Program
from boundit.core.rounding import ROUNDING
from boundit.counts.named_array import Floats, NamedArray
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.policies import FUSED, KINDS
from boundit.simulation.simulate import simulate
from boundit_research.audits.coverage_problems import draw_coverage_problems
from boundit_research.audits.limits import draw_limit_problems
from boundit_research.audits.problems import BINARY, REFUTED, Problem
from boundit_research.audits.report import Report, judge_each

CONFIDENCE = 0.95
PLAYED, ROUNDS, RUNS = "LinUCB", 300, 10
"""Who plays with bounds from which a part is gone, how long, and how often."""
LIMITED = 5
"""Of every so many problems, one states limits on hidden confounding."""
NOTHING = "nothing"
NESTED, SUMS, RATIOS, CELLS_ALONE = "natural value", "sums", "ratios", "sums and ratios"


def list_parts() -> dict[str, tuple[str, ...]]:
    """List all parts by kind: whoever adds a distribution, or a policy, adds a line.

    >>> list_parts()["distribution"]
    ('Known', 'Meet', 'Natural', 'Reweighted', 'Tilted', 'Unknown', 'natural value')
    """
    named = (
        name
        for name, one in vars(chains).items()
        if hasattr(one, "bound_mean") and one is not Distribution
    )
    return {
        "distribution": (*sorted(named), NESTED),
        "rule": (Program.__name__,),
        "confidence bound": (SUMS, RATIOS, CELLS_ALONE),
        "contrast": (compare_arms.__name__,),
        "policy": (*KINDS, *FUSED),
    }


@dataclass
class PartTally:
    """What tables and policies come to without a part: rows, widths, arms ruled out, regret.

    ``used`` are the tables in which the part was tried; in all others nothing changes.
    ``worlds`` are those that were played, with a reward of 0 or 1.
    """

    kind: str
    part: str
    used: int = 0
    rows: int = 0
    wider: int = 0
    width: float = 0.0
    ruled_out: int = 0
    worlds: int = 0
    regret: float = 0.0

    @property
    def mean_width(self) -> float:
        """The mean width of all intervals."""
        return self.width / max(self.rows, 1)

    @property
    def mean_regret(self) -> float:
        """The mean regret over the worlds that were played."""
        return self.regret / max(self.worlds, 1)


@dataclass
class AblationReport(Report):
    """A tally for each part.

    The first tally, and the first one of policies, are those with nothing left out. Problems
    whose log refutes the graph by chance, with all parts or without one, are not counted.
    """

    refuted: int = 0
    tallies: dict[tuple[str, str], PartTally] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """All tallies, as a list."""
        return asdict(self) | {"tallies": [asdict(one) for one in self.tallies.values()]}

    def __str__(self) -> str:
        """A line for each part: what tables and regrets are without it."""
        lines = [
            f"{self.models:,} random problems with a log each, seed {self.seed}; {self.refuted} "
            f"refuted by chance; regret of {PLAYED} after {ROUNDS} rounds, without a policy of "
            "the best that is left",
            f"{'without':<42}{'tables':>7}{'rows':>7}{'mean width':>12}{'wider':>7}"
            f"{'ruled out':>11}{'regret':>9}",
        ]
        lines += [
            f"{f'{one.kind} {one.part}'.strip():<42}{one.used:>7,}{one.rows:>7,}"
            f"{one.mean_width:>12.4f}{one.wider:>7,}{one.ruled_out:>11,}{one.mean_regret:>9.2f}"
            for one in self.tallies.values()
        ]
        return "\n".join(
            [*lines, "tables: those that use the part; all others count as they are"]
        )


def measure_ablation(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> AblationReport:
    """Bound a drawn log of each random problem, and once more without each part that it uses.

    >>> report = measure_ablation(2)
    >>> report.tallies["", "nothing"].wider, len(report.tallies) > 20
    (0, True)
    """
    report = AblationReport(seed)
    listed = [("", NOTHING)]
    for kind, parts in list_parts().items():
        listed += [(kind, part) for part in ((NOTHING,) if kind == "policy" else ()) + parts]
    report.tallies = {(kind, part): PartTally(kind, part) for kind, part in listed}

    def judge(one: tuple[Problem, Generator]) -> None:
        problem, rng = one
        try:
            _judge_problem(problem, problem.draw_counts(rng), report)
        except REFUTED:
            report.refuted += 1

    judge_each(report, _draw_problems(seed, models), judge, progress)
    return report


def _draw_problems(seed: int, n: int) -> Iterator[tuple[Problem, Generator]]:
    """Draw problems that use all kinds of rules, each with the random stream of its log."""
    limited = draw_limit_problems(seed, n)
    for i, drawn in enumerate(draw_coverage_problems(seed, n)):
        yield drawn if i % LIMITED else next(limited)


def _judge_problem(problem: Problem, counts: list[NamedArray], report: AblationReport) -> None:
    """Bound one log with all parts and without each, play, and count what comes of it."""
    tables, used = dict[tuple[str, str], BoundTable](), set[str]()
    with _switch_off(used) as leave_out:
        tables["", NOTHING] = whole = _bound(problem, counts)
        tried = frozenset(used)
        for kind, part in report.tallies:
            if part in tried and kind not in ("", "policy"):
                leave_out(part)
                tables[kind, part] = _bound(problem, counts)
    world = _make_world(problem)
    regrets = dict[tuple[str, str], float]()
    if world is not None:
        for key, found in tables.items():
            regrets[key] = float(_play(world, {PLAYED: KINDS[PLAYED](found)}).mean())
        policies = {name: make(whole) for name, make in {**KINDS, **FUSED}.items()}
        tries, ends = np.split(_play(world, policies, runs=2 * RUNS), 2, axis=1)
        for part in (NOTHING, *policies):
            left = [i for i, name in enumerate(policies) if name != part]
            best = min(left, key=lambda i: tries[i].mean())
            regrets["policy", part] = float(ends[best].mean())
    for key, tally in report.tallies.items():
        found = tables.get(key, whole)
        tally.used += key in tables or tally.kind == "policy"
        tally.rows += len(found.intervals)
        tally.width += sum(interval.width for interval in found.intervals.values())
        tally.wider += sum(
            interval.width > whole.intervals[at].width + ROUNDING
            for at, interval in found.intervals.items()
        )
        tally.ruled_out += sum(len(found.ruled_out(context)) for context in found.contexts)
        if world is not None:
            tally.worlds += 1
            tally.regret += regrets.get(key, regrets["", NOTHING])


def _bound(problem: Problem, counts: list[NamedArray]) -> BoundTable:
    """Bound a log, and compare its arms while a part is left out."""
    found = problem.bound_counts(counts, confidence=CONFIDENCE)
    assert found.contrasts is not None
    return found


@contextmanager
def _switch_off(used: set[str]) -> Iterator[Callable[[str], None]]:
    """Let one part at a time be left out; ``used`` gets the parts that there were.

    What comes out is called with the name of the part to leave out.
    """
    off = set[str]()

    def plan(*asked: Any, **options: Any) -> BoundPlan:
        found = plan_bounds(*asked, **options)
        for rule in found.rules:
            used.update(_find_parts(rule))
        return replace(
            found, rules=tuple(kept for rule in found.rules if (kept := _without(rule, off)))
        )

    find_sum = exact.find_sum

    def form(rule: Rule, evidence: Evidence) -> SumForm | str:
        found = find_sum(rule, evidence)
        if isinstance(found, str):
            return found
        kind = RATIOS if found.divided else SUMS
        used.update((kind, CELLS_ALONE))
        return "left out" if off & {kind, CELLS_ALONE} else found

    def compare(*asked: Any) -> Any:
        used.add(compare_arms.__name__)
        return ({}, {}) if compare_arms.__name__ in off else compare_arms(*asked)

    def leave_out(part: str) -> None:
        off.clear()
        off.add(part)

    with ExitStack() as stack:
        stack.enter_context(patch.object(derive, "plan_bounds", plan))
        stack.enter_context(patch.object(exact, "find_sum", form))
        stack.enter_context(patch.object(table, "compare_arms", compare))
        yield leave_out


def _find_parts(rule: Rule) -> set[str]:
    """The distributions that a chain has; of another rule its class."""
    if not isinstance(rule, Chain):
        return {type(rule).__name__}
    found = {NESTED} if any(name.endswith("'") for name in rule.variables) else set[str]()
    for link in rule.links:
        own = link.distribution
        found.add(type(own).__name__)
        if isinstance(own, Natural):
            found.add(type(own.joint).__name__)
        if isinstance(own, Meet):
            found = found.union(*map(_find_parts, own.chains))
    return found


def _without(rule: Rule, off: set[str]) -> Rule | None:
    """A rule without a part: None if it has it, a meet without the members that have it."""
    last = rule.links[-1] if isinstance(rule, Chain) else None
    if not isinstance(rule, Chain) or last is None or not isinstance(last.distribution, Meet):
        return None if off & _find_parts(rule) else rule
    before = {type(link.distribution).__name__ for link in rule.links[:-1]}
    members = tuple(one for one in last.distribution.chains if not off & _find_parts(one))
    if off & {*before, Meet.__name__} or not members:
        return None
    return replace(rule, links=(*rule.links[:-1], replace(last, distribution=Meet(members))))


def _make_world(problem: Problem) -> Environment | None:
    """Make the world of a problem, if policies can play in it: the reward is 0 or 1."""
    if problem.pay != BINARY or problem.model.n_levels[problem.outcome] != len(BINARY):
        return None
    return Environment(problem.model, problem.query)


def _play(world: Environment, policies: Mapping[str, Any], *, runs: int = RUNS) -> Floats:
    """Play policies in a world, all with the same draws; give final regrets by policy and run."""
    regret = simulate(world, policies, rounds=ROUNDS, runs=runs, workers=1)
    return np.asarray(regret.curves[:, :, -1])

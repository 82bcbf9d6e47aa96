"""What each part buys: the same logs bounded without it, and what a policy then regrets.

Parts are all rules, all kinds of sums that confidence bounds are made of, all ways to compare
arms, and all named policies; each has a line. A part is taken away from outside, after the
search: what the search leaves out because the part is there stays left out, so that a line
says what is lost if the part alone goes. Without a policy, the one of the others is played in
each world that regrets least in other runs of it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
from numpy.random import Generator

from boundit.bounds import assemble, derive
from boundit.bounds.claims import claim_rules
from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.contrasts.contrast_claims import ContrastFinder
from boundit.bounds.contrasts.shared_unknown import SharedUnknown
from boundit.bounds.contrasts.table import find_shared
from boundit.bounds.intersect import EndsCross, NoModelFits
from boundit.bounds.plan import BoundPlan, plan_bounds
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.selection_facts import FactsRefuted
from boundit.counts.named_array import Floats, NamedArray
from boundit.simulation.policies import FUSED, KINDS
from boundit.simulation.simulate import simulate
from boundit.simulation.world import World
from boundit.terms.bound_table import BoundTable
from boundit.terms.rounding import ROUNDING
from boundit_research.audits.coverage_problems import (
    BINARY,
    CoverageProblem,
    draw_coverage_problems,
)
from boundit_research.audits.limits import draw_limit_problems

CONFIDENCE = 0.95
PLAYED, ROUNDS, RUNS = "LinUCB", 300, 10
"""Who plays with bounds from which a part is gone, how long, and how often."""
LIMITED = 5
"""Of every so many problems, one states limits on hidden confounding."""
NOTHING = "nothing"


def list_parts() -> dict[str, tuple[str, ...]]:
    """List all parts by kind: whoever adds a class, or a policy to the list, adds a line.

    >>> list_parts()["contrast"]
    ('ContrastFinder', 'SharedChain', 'SharedTypes')
    """
    classes = {
        "rule": _list_below(BoundRule),
        "confidence bound": get_args(claim_rules.Form),
        "contrast": (*_list_below(SharedUnknown), ContrastFinder),
    }
    # A class with slots is made twice.
    found = {kind: sorted({one.__name__ for one in of}) for kind, of in classes.items()}
    return {kind: tuple(of) for kind, of in found.items()} | {"policy": (*KINDS, *FUSED)}


def _list_below(base: type) -> list[type]:
    own: list[type] = base.__subclasses__()
    return [*own, *(one for each in own for one in _list_below(each))]


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
class AblationReport:
    """What an ablation found, a tally for each part, and the seed that repeats it.

    The first tally, and the first one of policies, are those with nothing left out. Problems
    whose log refutes the graph by chance, with all parts or without one, are not counted.
    """

    seed: int
    models: int = 0
    refuted: int = 0
    tallies: dict[tuple[str, str], PartTally] = field(default_factory=dict)

    def count(self, kind: str, part: str) -> PartTally:
        """Find the tally of a part, or begin it."""
        return self.tallies.setdefault((kind, part), PartTally(kind, part))


def measure_ablation(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> AblationReport:
    """Bound a drawn log of each random problem, and once more without each part that it uses.

    ``progress`` is called with how many problems are done. A Ctrl-C ends the audit with what is
    done.

    >>> report = measure_ablation(2)
    >>> report.tallies["", "nothing"].wider, len(report.tallies) > 20
    (0, True)
    """
    report = AblationReport(seed)
    report.count("", NOTHING)
    for kind, parts in list_parts().items():
        for part in (NOTHING, *parts) if kind == "policy" else parts:
            report.count(kind, part)
    try:
        for problem, rng in _draw_problems(seed, models):
            try:
                _judge_problem(problem, problem.draw_counts(rng), report)
            except (EndsCross, NoModelFits, FactsRefuted):
                report.refuted += 1
            report.models += 1
            progress(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise
    return report


def _draw_problems(seed: int, n: int) -> Iterator[tuple[CoverageProblem, Generator]]:
    """Draw problems that use all kinds of rules, each with the random stream of its log."""
    limited = draw_limit_problems(seed, n)
    for i, (problem, rng) in enumerate(draw_coverage_problems(seed, n)):
        if i % LIMITED:
            yield problem, rng
        else:
            found, own = next(limited)
            stated, rows = {"confounding_limit": found.limits}, problem.sizes[:1]
            yield CoverageProblem(found.model, found.query, BINARY, (), stated, rows), own


def _judge_problem(
    problem: CoverageProblem, counts: list[NamedArray], report: AblationReport
) -> None:
    """Bound one log with all parts and without each, play, and count what comes of it."""
    tables, used = dict[tuple[str, str], BoundTable](), set[str]()
    with _hang_switch(used) as leave_out:
        bound = partial(problem.bound_counts, counts, confidence=CONFIDENCE, inference="exact")
        tables["", NOTHING] = whole = bound()
        tried = frozenset(used)
        for kind, part in report.tallies:
            if part in tried and kind not in ("", "policy"):
                leave_out(part)
                tables[kind, part] = bound()
    world = _make_world(problem)
    regrets = dict[tuple[str, str], float]()
    if world is not None:
        for key, table in tables.items():
            regrets[key] = float(_play(world, {PLAYED: KINDS[PLAYED](table)}).mean())
        policies = {name: make(whole) for name, make in {**KINDS, **FUSED}.items()}
        tries, ends = np.split(_play(world, policies, runs=2 * RUNS), 2, axis=1)
        for part in (NOTHING, *policies):
            left = [i for i, name in enumerate(policies) if name != part]
            best = min(left, key=lambda i: tries[i].mean())
            regrets["policy", part] = float(ends[best].mean())
    for key, tally in report.tallies.items():
        table = tables.get(key, whole)
        tally.used += key in tables or tally.kind == "policy"
        tally.rows += len(table.bounds)
        widths = {at: row.upper - row.lower for at, row in table.bounds.items()}
        tally.width += sum(widths.values())
        tally.wider += sum(
            width > row.upper - row.lower + ROUNDING
            for width, row in zip(widths.values(), whole.bounds.values(), strict=True)
        )
        tally.ruled_out += sum(len(table.ruled_out(context)) for context in table.contexts)
        if world is not None:
            tally.worlds += 1
            tally.regret += regrets.get(key, regrets["", NOTHING])


@contextmanager
def _hang_switch(used: set[str]) -> Iterator[Callable[[str], None]]:
    """Let one kind of part at a time be left out; ``used`` hears which kinds there were.

    What comes out is called with the name of the part to leave out.
    """
    off = set[str]()
    find_form, has_claims = claim_rules._find_any_form, ContrastFinder.has_claims  # noqa: SLF001

    def keeps(part: object) -> bool:
        used.add(type(part).__name__)
        return type(part).__name__ not in off

    def plan(*asked: Any, **options: Any) -> BoundPlan:
        found = plan_bounds(*asked, **options)
        return replace(found, rules=tuple(p for p in found.rules if keeps(p.rule)))

    def form(*asked: Any) -> claim_rules.Form | Unmet:
        found = find_form(*asked)
        return found if keeps(found) else Unmet("left out")

    def shared(*asked: Any) -> SharedUnknown | None:
        found = find_shared(*asked)
        return found if found is not None and keeps(found) else None

    def claims(finder: ContrastFinder) -> bool:
        return bool(has_claims.fget(finder)) and keeps(finder)  # type: ignore[attr-defined]

    def leave_out(part: str) -> None:
        off.clear()
        off.add(part)

    with ExitStack() as stack:
        stack.enter_context(patch.object(derive, "plan_bounds", plan))
        stack.enter_context(patch.object(claim_rules, "_find_any_form", form))
        stack.enter_context(patch.object(assemble, "find_shared", shared))
        stack.enter_context(patch.object(ContrastFinder, "has_claims", property(claims)))
        yield leave_out


def _make_world(problem: CoverageProblem) -> World | None:
    """Make the world of a problem, if policies can play in it: the reward is 0 or 1."""
    (outcome,) = problem.query.outcomes
    if problem.pay != BINARY or problem.model.n_levels[outcome] != len(BINARY):
        return None
    return World(problem.model, problem.query)


def _play(world: World, policies: Mapping[str, Any], *, runs: int = RUNS) -> Floats:
    """Play policies in a world, all with the same luck; give final regrets by policy and run."""
    regret = simulate(world, policies, rounds=ROUNDS, runs=runs, workers=1)
    return np.asarray(regret.curves[:, :, -1])

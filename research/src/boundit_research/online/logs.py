"""Policies that start from a log, a fresh one in each run, where the graph is right or wrong.

One log for all runs would show what that log happened to hold. Here every run draws its own, and
all policies meet the same contexts and random numbers, so that differences from the first policy
are paired.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.random import SeedSequence, default_rng
from scipy import stats

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import condition_only
from boundit.bounds.table import EndsCross
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import Floats
from boundit.results.bound_table import BoundTable
from boundit.simulation.block import PolicySource
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.feedback import Feedback
from boundit.simulation.policies import FUSED
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import HIGH, LEVEL
from boundit_research.online.worlds import GROUPS, Assumed
from boundit_research.rivals.catalogue import RIVALS, RunStart, is_rival, make_rival

Progress: TypeAlias = Callable[[int, int], None]
"""Is called with how many runs are done, and of how many."""
UNSEEN = "Fused-unseen"
"""Fused that learns from rewards alone, whatever the others observe."""
OWN: Mapping[str, Callable[[BoundTable | None], Policy]] = {
    "LinUCB": lambda _: LinUCB(),
    "TS": lambda _: TS(),
    "LinUCB-PCB": lambda table: LinUCB(table and table.intervals_only()),
    "TS-PCB": lambda table: TS(table and table.intervals_only()),
    **FUSED,
    UNSEEN: FUSED["Fused"],
}
"""Policies of this package; those with a log start from nothing where it refutes the graph."""
POINTS = (1_000, 30_000)
_STREAM = 6
"""The stream of a run's random numbers that its log is drawn from; 0 to 5 are the simulation's."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What all parts of a study share."""

    rounds: int = 15_000
    runs: int = 100
    seed: int = 0
    observed: float = 1.0
    batch: int = 1

    def __str__(self) -> str:
        late = f", rewards in batches of {self.batch:,}" if self.batch > 1 else ""
        return (
            f"{self.runs:,} runs of {self.rounds:,} rounds in each environment, seed {self.seed}, "
            f"auxiliary variables observed in a share {self.observed:g} of them{late}"
        )


@dataclass(frozen=True, slots=True)
class LogRow:
    """One policy in the environments of a group, from logs of one length.

    Mean, median and 95 % quantile (``q95``) of the final regret over all runs; ``less`` is by how
    much less that is than the first policy's, paired run by run, with its 95 % interval. Runs are
    drawn, environments are not: each is a stratum.
    """

    group: str
    points: int
    policy: str
    environments: int
    mean: float
    median: float
    q95: float
    less: float
    less_lower: float
    less_upper: float

    @classmethod
    def of(
        cls,
        group: str,
        points: int,
        policy: str,
        finals: Sequence[Floats],
        first: Sequence[Floats],
    ) -> "LogRow":
        """Sum up one policy; ``finals`` has an array of final regrets for each environment."""
        every = np.concatenate(finals)
        gaps = [one - other for one, other in zip(first, finals, strict=True)]
        less, half = float(np.mean([gap.mean() for gap in gaps])), float("nan")
        if min(map(len, gaps)) > 1:
            variance = sum(float(gap.var(ddof=1)) / len(gap) for gap in gaps)
            freedom = sum(len(gap) - 1 for gap in gaps)
            half = float(stats.t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(variance) / len(gaps))
        seen = float(every.mean()), float(np.median(every)), float(np.quantile(every, HIGH))
        return cls(group, points, policy, len(gaps), *seen, less, less - half, less + half)

    def __str__(self) -> str:
        said = f"{self.policy:<16}{self.mean:>9.1f} ({self.median:.1f}, {self.q95:.1f})"
        return (
            f"{said:<46}{self.less:>+9.1f} {write_interval(self.less_lower, self.less_upper)}"
        )


@dataclass(frozen=True, slots=True)
class LogStudy:
    """The regrets of all policies in all groups, from logs of all lengths."""

    rows: tuple[LogRow, ...]
    settings: LogSettings

    def record(self) -> dict[str, object]:
        """Write the rows and what made them as an object for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        first = self.rows[0].policy
        lines = [
            f"a log for each run; {self.settings}",
            f"final regret as mean (median, q95), and how much less than that of {first}, paired, "
            "with a 95 % interval",
        ]
        for (group, points), rows in groupby(self.rows, lambda row: (row.group, row.points)):
            members = list(rows)
            many = f", {members[0].environments} environments"
            many *= members[0].environments > 1
            lines += ["", f"{group}, {points:,} points{many}", *map(str, members)]
        return "\n".join(lines)


def run_log_study(
    *,
    groups: Sequence[str] = tuple(GROUPS),
    policies: Sequence[str] = tuple(OWN),
    points: Sequence[int] = POINTS,
    settings: LogSettings = LogSettings(),  # noqa: B008, it is frozen
    progress: Progress = lambda _, __: None,
) -> LogStudy:
    """Play policies from a fresh log in each run, in all environments of some groups.

    Differences are from the first policy. ``progress`` hears how many runs of all are done.
    """
    found = dict[tuple[str, int], list[dict[str, Floats]]]()
    parts = [(group, n, one) for group in groups for n in points for one in GROUPS[group]()]
    done, of = 0, len(parts) * len(policies) * settings.runs
    for group, n, assumed in parts:
        # The environments that a graph gets wrong are apart by how wrong it is.
        name = assumed.environment.name if group == "wrong" else group
        finals = dict[str, Floats]()
        for policy, source in make_sources(
            policies, RunLogs(assumed, n, settings.seed)
        ).items():
            regret = simulate(
                assumed.environment,
                {policy: source},
                rounds=settings.rounds,
                runs=settings.runs,
                seed=settings.seed,
                feedback=Feedback(batch=settings.batch) if settings.batch > 1 else None,
                observed=0.0 if policy == UNSEEN else settings.observed,
            )
            finals[policy] = require_all_runs(regret, settings.runs).final(policy)
            done += settings.runs
            progress(done, of)
        found.setdefault((name, n), []).append(finals)
    return LogStudy(
        tuple(
            LogRow.of(
                *key, policy, *([f[name] for f in played] for name in (policy, policies[0]))
            )
            for key, played in found.items()
            for policy in policies
        ),
        settings,
    )


class RunLogs:
    """A log of its own for each run, and its bounds under an assumed graph.

    A run's log depends on the seed, its number and the points alone.
    """

    def __init__(self, assumed: Assumed, points: int, seed: int) -> None:
        self.assumed, self.points, self.seed = assumed, points, seed
        model = assumed.environment.model
        law = model.log()
        places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
        self._cells = {axis: at.tolist() for axis, at in zip(law.axes, places, strict=True)}
        logged = law.values.ravel() * model.selection_rate()
        self._shares = np.append(logged, max(1.0 - logged.sum(), 0.0))  # last: not logged
        self.find_table = lru_cache(maxsize=128)(self._derive)

    def draw(self, run: int) -> Log:
        """Draw the log of a run as counts of its cells, distributed as rows before selection."""
        rng = default_rng(SeedSequence(self.seed, spawn_key=(run, _STREAM, self.points)))
        counts = rng.multinomial(self.points, self._shares)[:-1]
        return read_log({**self._cells, "rows": counts.tolist()}, weight="rows")

    def _derive(self, run: int) -> BoundTable | None:
        """Derive a run's bounds; None where its log refutes the assumed graph."""
        environment = self.assumed.environment
        levels = environment.model.n_levels
        domain = {name: tuple(range(levels[name])) for name in environment.graph.observed}
        try:
            return derive_bounds(
                self.assumed.graph, environment.query, self.draw(run), domain=domain
            )
        except EndsCross:
            return None

    def find_start(self, run: int) -> RunStart:
        """Find what rivals start from in a run: its bounds, and the means of its log."""
        asked = self.assumed.graph, self.assumed.environment.query
        return RunStart(self.find_table(run), condition_only(*asked, self.draw(run)))


def make_sources(names: Sequence[str], logs: RunLogs) -> dict[str, PolicySource]:
    """Make the named policies for a simulation, a new one for each run's log."""

    def start(name: str) -> PolicySource:
        if name in OWN:
            return lambda run: OWN[name](logs.find_table(run))
        if is_rival(name):
            return lambda run: make_rival(name, logs.find_start(run))
        known = (*OWN, *RIVALS)
        near = ", ".join(map(repr, get_close_matches(name, known, n=1) or known))
        raise InvalidSimulation(f"no policy is called {name!r}; did you mean {near}?")

    return {name: start(name) for name in names}


def require_all_runs(regret: Regret, runs: int) -> Regret:
    """Return the regrets of a simulation, or stop the study when Ctrl-C cut its runs short.

    It stops by ``KeyboardInterrupt``.
    """
    if regret.runs < runs:
        raise KeyboardInterrupt
    return regret


def write_interval(lower: float, upper: float, digits: int = 1) -> str:
    """Write the interval of a difference, or a dash: a single run has none.

    >>> write_interval(-0.5, 1200.0), write_interval(float("nan"), float("nan"))
    ('[-0.5, 1,200.0]', '–')
    """
    if lower != lower or upper != upper:
        return "–"
    return f"[{lower:,.{digits}f}, {upper:,.{digits}f}]"

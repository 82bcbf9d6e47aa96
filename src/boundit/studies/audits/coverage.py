"""How often the whole table holds with finite logs, and what that costs in width.

Worlds are the paper's model and random models whose arms are skewed, whose variables have two
or three levels and whose cells are often empty; half of them pay a numeric reward. A log
*holds* when every interval of its table holds the truth. Beside our widths stand the plug-in
ones, which neglect sampling error, and plain Bonferroni over every cell of every rule.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.assemble import assemble
from boundit.bounds.plan import plan_bounds
from boundit.bounds.plan_counts import PlanCounts
from boundit.bounds.request import hide_reward
from boundit.counts.read import read_log
from boundit.estimand.query import EffectQuery
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.worlds import paper_world
from boundit.studies.audits.problems import draw_query
from boundit.terms.bound_table import BoundTable
from boundit.terms.rounding import EXACT_ROUNDING

if TYPE_CHECKING:
    from boundit.counts.table import CountTable

SIZES = (500, 5_000, 50_000)


@dataclass(frozen=True, eq=False)
class CoverageSetting:
    """A model, a question, and what each level of the outcome pays, in [0, 1]."""

    model: Model
    query: EffectQuery
    pay: tuple[float, ...]


@dataclass
class Coverage:
    """How logs of one size did: in how many all bounds held, and how wide these were."""

    world: str
    size: int
    confidence: float
    logs: int = 0
    held: int = 0
    width: float = 0.0
    plug_in: float = 0.0
    bonferroni: float = 0.0

    @property
    def share(self) -> float:
        """The share of drawn logs whose whole table of bounds holds the truth.

        Read by ``_audit_coverage`` of the command line.
        """
        return self.held / self.logs if self.logs else 0.0

    @property
    def is_enough(self) -> bool:
        """Whether the share of logs whose bounds all hold reaches the confidence within chance.

        Read by ``_audit_coverage`` of the command line, which fails when it does not.
        """
        return self.share >= self.confidence - 3 * self.error

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the share of logs whose table holds.

        Read by ``Coverage.is_enough`` and ``_audit_coverage`` of the command line.
        """
        return float(np.sqrt(self.share * (1 - self.share) / self.logs)) if self.logs else 0.0


def measure_coverage(
    logs: int,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    sizes: tuple[int, ...] = SIZES,
    told: Callable[[int], None] = lambda _: None,
) -> list[Coverage]:
    """Count how often tables of confident bounds hold the truth, on logs whose model is known.

    Draws ``logs`` logs of each size from the paper's model, and as many from random models.
    ``told`` is called with how many logs are done. Called by ``_audit_coverage`` of the command
    line.

    >>> [c.held == c.logs for c in measure_coverage(3, sizes=(200,))]
    [True, True]
    """
    found = list[Coverage]()
    for world, settings in (("paper", _repeat_paper_setting), ("random", _draw_settings)):
        for size in sizes:
            entry = Coverage(world, size, confidence)
            streams = SeedSequence([seed, size]).spawn(logs)
            for setting, rng in zip(
                settings(seed, logs), map(default_rng, streams), strict=True
            ):
                _count_log(setting, size, rng, entry)
                told(sum(done.logs for done in found) + entry.logs)
            found.append(entry)
    return found


def _repeat_paper_setting(_: int, n: int) -> Iterator[CoverageSetting]:
    """Give the paper's model, question and pay ``n`` times, one for each log to draw.

    Used by ``measure_coverage``.
    """
    world = paper_world()
    for _ in range(n):
        yield CoverageSetting(world.model, world.query, (0.0, 1.0))


def _draw_settings(seed: int, n: int) -> Iterator[CoverageSetting]:
    """Draw ``n`` random models, each with a question and the reward of every outcome level.

    Used by ``measure_coverage``, one for each log to draw.
    """
    for stream in SeedSequence([seed, 1]).spawn(n):
        rng = default_rng(stream)
        graph = draw_graph(int(rng.integers(3, 6)), rng, selection=bool(rng.random() < 0.8))
        model = draw_model(graph, rng, levels=(2, 3), floor=0.002)
        query = draw_query(graph, rng)
        k = model.n_levels[query.outcomes[0]]
        # Half of the outcomes are 0/1, the others pay by level.
        pay = (0.0, 1.0) if k == 2 and rng.random() < 0.5 else tuple(np.linspace(0.1, 0.9, k))
        yield CoverageSetting(model, query, pay)


def _count_log(setting: CoverageSetting, size: int, rng: Generator, entry: Coverage) -> None:
    """Draw one log and bound it; count in ``entry`` whether all its bounds hold the truth.

    Also adds up how wide they are. Called by ``measure_coverage`` for every log.
    """
    model, query = setting.model, setting.query
    rows = model.sample_log(size, rng)
    entry.logs += 1
    if not len(rows[query.outcomes[0]]):
        entry.held += 1  # an empty log claims nothing
        return
    tables = [
        bound_log(setting, rows, confidence=entry.confidence, sparing=s) for s in (True, False)
    ]
    truth = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    )
    axes = query.treatments + query.context
    paid = truth.align((*axes, *query.outcomes)) @ np.array(setting.pay)
    entry.held += all(
        bound.lower - EXACT_ROUNDING <= paid[arm + context] <= bound.upper + EXACT_ROUNDING
        for (arm, context), bound in tables[0].bounds.items()
    )
    ours, plain = (list(table.bounds.values()) for table in tables)
    entry.width += float(np.mean([b.upper - b.lower for b in ours]))
    entry.plug_in += float(np.mean([b.upper_estimate - b.lower_estimate for b in ours]))
    entry.bonferroni += float(np.mean([b.upper - b.lower for b in plain]))


def bound_log(
    setting: CoverageSetting, rows: dict[str, np.ndarray], *, confidence: float, sparing: bool
) -> BoundTable:
    """Bound one drawn log as ``derive_bounds`` does, with every level declared; give the table.

    ``sparing`` False splits the allowed error over every cell of every rule (plain Bonferroni).
    Called by ``_count_log`` with and without, to compare the widths.
    """
    model, query = setting.model, setting.query
    (outcome,) = query.outcomes
    pays = np.array(setting.pay)
    graph = model.graph if setting.pay == (0.0, 1.0) else hide_reward(model.graph, outcome)
    plan = plan_bounds(graph, query)
    columns = {name: column.tolist() for name, column in rows.items() if name != outcome}
    log = read_log(columns | {outcome: pays[rows[outcome]].tolist()})
    table: CountTable = log.count(list(columns), reward=outcome).add_levels(
        {name: range(model.n_levels[name]) for name in columns}
    )
    return assemble(
        plan,
        PlanCounts(table),
        reward_range=(0.0, 1.0),
        confidence=confidence,
        sparing=sparing,
    )

"""How often a plan of cells and pools exists on random graphs, and what it costs.

200 random graphs of 4 to 6 variables (those of ``boundit audit``), dense and mostly selected;
25 sparse ones of 10 to 40 variables; and tables of 1,000 pairs of arm and context. Seconds are
the processor's, for the plan and for all of ``derive_bounds``.
"""

import time
from collections.abc import Mapping, Sequence
from unittest.mock import patch

import numpy as np
from numpy.random import default_rng

import boundit as bd
from boundit.bounds import assemble as assemble_room
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.fused.plan_fused import plan_fused
from boundit.bounds.plan import BoundPlan
from boundit.terms.bound import Key
from boundit.terms.fused_plan import FusedPlan, NoFusedPlan
from boundit_research.audits.large_worlds import draw_shape, list_levels
from boundit_research.audits.plans import audit_plans
from boundit_research.large_models import draw_large_log, draw_large_world

MODELS, LARGE, ROWS = 200, 25, 100_000
PAIRS = {
    "one variable of 2 levels": (
        "C -> X; X -> I; I -> Y; C -> Y; I -> [S]; I <-> Y",
        {"C": 50, "X": 20, "I": 2, "Y": 2},
    ),
    "one variable of 8 levels": (
        "C -> X; X -> I; I -> Y; C -> Y; X -> Y; I -> [S]; I <-> Y",
        {"C": 50, "X": 20, "I": 8, "Y": 2},
    ),
    "two of 4 levels": (
        "C -> X; X -> I -> Y; C -> Y; X -> Y; I <-> Y; C -> J -> Y; J -> X; I -> [S]; J -> [S]",
        {"C": 50, "X": 20, "I": 4, "J": 4, "Y": 2},
    ),
}


class Stopwatch:
    """Adds up the seconds that plans take within ``derive_bounds``."""

    def __init__(self) -> None:
        self.plans: list[float] = []

    def plan(
        self, plan: BoundPlan, evidence: BoundEvidence, pairs: Sequence[Key]
    ) -> FusedPlan | NoFusedPlan:
        """Plan as ``derive_bounds`` does, and note how long it took."""
        started = time.process_time()
        found = plan_fused(plan, evidence, pairs)
        self.plans.append(time.process_time() - started)
        return found


def run() -> None:
    report = audit_plans(MODELS)
    print(
        f"{MODELS} random graphs of 4 to 6 variables: {report.plans} have a plan, "
        f"{report.plain} over no variable, {report.from_rows} with all weights from rows, "
        f"{report.tilted} up to a tilt, {report.online} from rounds; "
        f"{len(report.misses)} misses"
    )
    watch = Stopwatch()
    with patch.object(assemble_room, "plan_fused", watch.plan):
        _run_large(watch)
        for name, (graph, levels) in PAIRS.items():
            _run_pairs(watch, name, graph, levels)


def _run_large(watch: Stopwatch) -> None:
    """Print how many sparse graphs have a plan, and what it costs beside the bounds."""
    found, whole = 0, 0.0
    for seed in range(LARGE):
        rng = default_rng(seed)
        world = draw_large_world(draw_shape((10, 40), rng), rng)
        log = draw_large_log(world.model, ROWS // 5, rng)
        started = time.process_time()
        table = bd.derive_bounds(world.graph, world.query, log, domain=list_levels(world))
        whole += time.process_time() - started
        found += isinstance(table.pooling, FusedPlan)
    print(
        f"{LARGE} sparse graphs of 10 to 40 variables: {found} have a plan; it takes "
        f"{1e3 * sum(watch.plans) / LARGE:.0f} ms on average and {1e3 * max(watch.plans):.0f} "
        f"ms at most, {sum(watch.plans) / whole:.1%} of derive_bounds"
    )


def _run_pairs(watch: Stopwatch, name: str, graph: str, levels: Mapping[str, int]) -> None:
    """Print what the plan of a table of 1,000 pairs costs."""
    rng = default_rng(0)
    log = {column: rng.integers(0, n, ROWS) for column, n in levels.items()}
    best = np.inf, np.inf
    for _ in range(3):
        started = time.process_time()
        table = bd.derive_bounds(bd.parse_graph(graph), "Y | do(X), C", log)
        best = min(best, (watch.plans[-1], time.process_time() - started))
    plan = table.pooling
    n_cells = len(plan.n) if isinstance(plan, FusedPlan) else 0
    print(
        f"{len(table.bounds):,} pairs, {name}: {n_cells:,} cells, {1e3 * best[0]:.1f} ms "
        f"of {1e3 * best[1]:.0f} ms"
    )

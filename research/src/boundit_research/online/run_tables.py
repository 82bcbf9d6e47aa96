"""What one run starts from: the bounds of a log of its own, drawn anew for every run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.random import SeedSequence, default_rng

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import condition_only
from boundit.bounds.table import EndsCross
from boundit.counts.log import Log, read_log
from boundit.results.bound_table import BoundTable
from boundit.simulation.block import PolicySource
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.policies import FUSED
from boundit_research.online.wrong_graphs import AssumedWorld
from boundit_research.rivals.catalogue import RIVALS, RunStart, is_rival, make_rival

_LOGS = 6
"""The stream of a run's randomness that its log is drawn from; 0 to 5 are the simulation's."""
_KEPT = 128
"""How many runs' tables are kept unless told, where one policy plays after the other."""

FromTable: TypeAlias = Callable[[BoundTable | None], Policy]

FRESH: Mapping[str, FromTable] = {
    "LinUCB-PCB": lambda table: LinUCB(prior=table and table.intervals_only()),
    "TS-PCB": lambda table: TS(prior=table and table.intervals_only()),
    **FUSED,
}
"""Policies that start from a log's table, or from nothing where the log refutes the graph."""
PLAIN: Mapping[str, Callable[[], Policy]] = {
    "LinUCB": LinUCB,
    "TS": TS,
}
"""Policies that take nothing from a log."""
UNSEEN: Mapping[str, FromTable] = {"Fused-unseen": FUSED["Fused"]}
"""Policies that are told rewards alone, whatever others are told."""


@dataclass(frozen=True, eq=False)
class RunTables:
    """The bounds of a fresh log of ``points`` rows for each run, under an assumed graph.

    A run's log hangs on the seed, its number and the points alone. What was derived last is
    kept for so many runs.
    """

    assumed: AssumedWorld
    points: int
    seed: int
    kept: int = _KEPT

    def draw_log(self, run: int) -> Log:
        """Draw the log of one run as counts of its cells, which is quick at any length.

        Its law is that of drawing ``points`` rows of the population and keeping the logged.
        """
        rng = default_rng(SeedSequence(self.seed, spawn_key=(run, _LOGS, self.points)))
        cells, chances = self._cells
        counts = rng.multinomial(self.points, chances)[:-1]
        return read_log({**cells, "rows": counts.tolist()}, weight="rows")

    def find_table(self, run: int) -> BoundTable | None:
        """Derive the bounds of a run's log; None where the log refutes the assumed graph.

        Those of the last runs are kept.
        """
        return self._find(run)

    def find_start(self, run: int) -> RunStart:
        """Find what rivals start from in a run: its bounds, and the means of its log."""
        return self._find_start(run)

    @cached_property
    def _find_start(self) -> "Callable[[int], RunStart]":
        """The function that finds what a run starts from and keeps that of the last runs."""
        return lru_cache(maxsize=self.kept)(self._estimate)

    def _estimate(self, run: int) -> RunStart:
        """Estimate every arm by its logged mean, beside the bounds of the same log."""
        log, query = self.draw_log(run), self.assumed.world.query
        return RunStart(self.find_table(run), condition_only(self.assumed.graph, query, log))

    @cached_property
    def _find(self) -> "Callable[[int], BoundTable | None]":
        """The function that derives a run's bounds and keeps those of the last runs."""
        return lru_cache(maxsize=self.kept)(self._derive)

    def _derive(self, run: int) -> BoundTable | None:
        """Derive the bounds of a run's log at confidence 0.95."""
        world = self.assumed.world
        levels = world.model.n_levels
        domain = {name: tuple(range(levels[name])) for name in world.graph.observed}
        try:
            return derive_bounds(
                self.assumed.graph, world.query, self.draw_log(run), domain=domain
            )
        except EndsCross:
            return None

    @cached_property
    def _cells(self) -> tuple[dict[str, list[int]], np.ndarray]:
        """The cells of a log and the chance of each, and last that a row is not logged."""
        model = self.assumed.world.model
        law = model.log()
        places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
        cells = {axis: at.tolist() for axis, at in zip(law.axes, places, strict=True)}
        logged = law.values.ravel() * model.selection_rate()
        return cells, np.append(logged, max(1.0 - logged.sum(), 0.0))


def make_sources(names: tuple[str, ...], tables: RunTables) -> dict[str, PolicySource]:
    """Make the named policies for a simulation: as they are, or a new one for each run's log."""

    def start(make: FromTable) -> Callable[[int], Policy]:
        return lambda run: make(tables.find_table(run))

    def start_rival(name: str) -> Callable[[int], Policy]:
        return lambda run: make_rival(name, tables.find_start(run))

    found, fresh = dict[str, PolicySource](), {**FRESH, **UNSEEN}
    for name in names:
        if name in PLAIN:
            found[name] = PLAIN[name]()
        elif name in fresh:
            found[name] = start(fresh[name])
        elif is_rival(name):
            found[name] = start_rival(name)
        else:
            known = (*PLAIN, *fresh, *RIVALS)
            near = ", ".join(map(repr, get_close_matches(name, known, n=1) or known))
            raise InvalidSimulation(f"no policy is called {name!r}; did you mean {near}?")
    return found

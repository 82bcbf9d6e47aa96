"""Exact laws as logs, and random questions whose answers are known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from boundit.bounds.derive import derive_bounds
from boundit.core.names import Nodes, sort_names
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import EffectQuery
from boundit.results.bound_table import BoundTable
from boundit.simulation.errors import InvalidModel
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM

HALVES = (0, 0.5, 1)
"""What a reward of three levels is worth."""


def as_log(law: NamedArray, values: dict[str, Sequence[object]] | None = None) -> Log:
    """An exact law as a log; ``values`` are the levels of some variables."""
    places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
    cells = {
        axis: [(values or {}).get(axis, range(n))[i] for i in column]
        for axis, n, column in zip(law.axes, law.values.shape, places.tolist(), strict=True)
    }
    return read_log(cells | {"p": law.values.ravel().tolist()}, weight="p", exact=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """A model, a question about it, and sets of variables measured without selection."""

    model: SCM
    query: EffectQuery
    tables: tuple[Nodes, ...] = ()

    @property
    def worth(self) -> tuple[float, ...]:
        """What the levels of the reward are worth."""
        return HALVES if self.model.n_levels[self.query.outcomes[0]] == 3 else (0, 1)

    def bounds(self, *tables: Nodes) -> BoundTable:
        """Bound it from the exact law and some unselected ones."""
        (outcome,) = self.query.outcomes
        worth: dict[str, Sequence[object]] = {outcome: self.worth}
        laws = map(self.model.distribution, tables)
        n_levels = self.model.n_levels
        return derive_bounds(
            self.model.graph,
            self.query,
            as_log(self.model.log(), worth),
            confidence=None,
            external=[as_log(law, worth) for law in laws],
            outcome_range=(0, 1),
            domain={v: range(n_levels[v]) for v in self.model.graph.observed - {outcome}},
        )

    def truth(self) -> Floats:
        """The mean reward of every arm and context, nan where a context never happens."""
        query = self.query
        effect = self.model.effect(
            outcomes=query.outcomes, treatments=query.treatments, context=query.context
        )
        axes = query.treatments + query.context + query.outcomes
        return np.asarray((effect.align(axes) * self.worth).sum(axis=-1))


def ends(table: BoundTable, shape: Sequence[int]) -> tuple[Floats, Floats]:
    """Both ends as arrays."""
    lower = [bound.lower for bound in table.bounds.values()]
    upper = [bound.upper for bound in table.bounds.values()]
    return np.reshape(lower, shape), np.reshape(upper, shape)


def questions(
    n: int, seed: int, *, zeros: float = 0.0, worth: int = 2, selection: bool | None = None
) -> Iterator[Asked]:
    """Draw ``n`` questions on graphs of three to five variables, most of them selected."""
    drawn = 0
    for stream in default_rng(seed).spawn(40 * n):
        asked = _drawn(stream, zeros, worth, selection)
        if asked is not None:
            yield asked
            drawn += 1
        if drawn == n:
            return


def _drawn(rng: Generator, zeros: float, worth: int, selection: bool | None) -> Asked | None:
    selected = bool(rng.random() < 0.85) if selection is None else selection
    graph = draw_graph(int(rng.integers(3, 6)), rng, selection=selected)
    outcome, *rest = (str(name) for name in rng.permutation(sort_names(graph.observed)))
    n_arms = int(rng.integers(1, 3))
    late = graph.descendants(rest[:n_arms])
    context = [name for name in rest[n_arms:] if name not in late][: int(rng.integers(0, 3))]
    levels = (2, 3) if worth == 3 or rng.random() < 0.3 else (2,)
    model = draw_model(graph, rng, levels=levels, zeros=zeros)
    if model.n_levels[outcome] != worth or not _is_logged(model):
        return None
    names = sort_names(graph.observed)
    tables = tuple(
        frozenset(map(str, rng.choice(names, int(rng.integers(1, 4)), replace=False)))
        for _ in range(int(rng.integers(0, 3)))
    )
    return Asked(model, EffectQuery((outcome,), tuple(rest[:n_arms]), tuple(context)), tables)


def _is_logged(model: SCM) -> bool:
    try:
        model.log()
    except InvalidModel:
        return False
    return True

"""Rival models: the same graph, the same log, another effect.

That a log leaves an effect open is shown by two models of the graph that it cannot tell apart.
Models with a given log are a surface among all models; from the model at hand we climb on it
in the log-odds of the reward. A step goes along the gradient, less the part of it that would
change the log; Newton's method then leads back onto the surface. Hidden causes are part of a
model, so confounding needs no argument of its own.

A rival proves what it shows, up to rounding. A climb that gets stuck proves nothing: it only
says how far the effect moved.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve

from boundit.core.names import Nodes, sort_names
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import EffectQuery
from boundit.simulation.scm import SCM
from boundit_research.audits.table_slopes import LawSlopes, ModelPoints, Tables

SAME = 1e-11
"""Two laws are the same when no ratio of their chances is further than this from one."""

Goal = Callable[[Tables], tuple[float, Floats]]
_STEPS, _PATIENCE, _GAIN = 300, 10, 0.02  # the last ten steps add at least so much, or enough
_FIRST, _SHORTEST, _LONGEST = 0.5, 1e-3, 3.0  # how far a step moves the entry it moves most
_FLAT = 1e-4
_RIDGE, _ROUNDS = 1e-12, 3


@dataclass(frozen=True, eq=False)
class Rival:
    """A model that the data cannot tell from the first, and what the reward is there.

    ``flat`` says that the climb ended where the gradient vanishes: it was not just slow.
    """

    model: SCM
    effect: float
    flat: bool


@dataclass(frozen=True, eq=False)
class _SurfacePoint:
    """A model with the given data, as a point: how its data and the reward change around it.

    ``slopes`` are those of the data, ``odds`` the log-odds of the reward, ``gradient`` theirs.
    """

    point: Floats
    tables: Tables
    slopes: Floats
    odds: float
    gradient: Floats

    def project(self, direction: Floats) -> Floats:
        """Remove from a direction in the space of models what would change the log or a table.

        Gives what is left, along which models keep the same data.
        """
        return direction - _find_least_move(self.slopes, self.slopes @ direction)


class ModelSurface:
    """All models of a graph, with hidden causes of so many levels, that show the same data.

    The data are the log of ``model`` and unbiased ``tables`` of some variables.

    >>> model = SCM.of({"X": ([], 0.5), "S": (["X"], [0.2, 0.8])}, selection="S")
    >>> surface = ModelSurface(model)
    >>> rival = surface.find_furthest(EffectQuery(("X",)), {}, towards=1, until=0.999)
    >>> rival.effect > 0.999, bool(rival.model.log().measure_gap(model.log()) < 1e-9)
    (True, True)
    """

    def __init__(self, model: SCM, tables: Sequence[Nodes] = ()) -> None:
        self.model = model
        self.points = ModelPoints(model.tables)
        self.start = self.points.to_point(model.tables)
        selection = model.graph.selection
        log = model.log()
        self._log = LawSlopes(self.points, log.axes, seen={selection: 1} if selection else {})
        self._others = [
            LawSlopes(self.points, model.distribution(names).axes) for names in tables
        ]
        self._logged = log.values.ravel()
        self._known = [model.distribution(names).values.ravel() for names in tables]

    @property
    def is_large(self) -> bool:
        """Whether the law of all variables, hidden ones too, has too many cells for a search."""
        return self._log.is_large

    def find_furthest(
        self, query: EffectQuery, at: Mapping[str, int], *, towards: int, until: float
    ) -> Rival:
        """Find a model with the same data whose chance of reward is nearest to 0 or to 1.

        Moves ``towards`` 0 or 1 until the chance is beyond ``until``, or no further; ``at`` has
        the values of treatments and context. Gives that model, called a rival, with its chance.
        """
        sign = 1 if towards else -1
        law_slopes = LawSlopes(
            self.points,
            query.outcomes,
            seen={name: at[name] for name in query.context},
            done={name: at[name] for name in query.treatments},
        )

        def goal(tables: Tables) -> tuple[float, Floats]:
            law, slopes = law_slopes(tables)
            return sign * float(np.log(law[1] / law[0])), sign * (slopes[1] - slopes[0])

        top, flat = self._climb(goal, sign * float(np.log(until / (1 - until))))
        specs = {node: (table.axes[:-1], table.values) for node, table in top.tables.items()}
        effect = float(1 / (1 + np.exp(-sign * top.odds)))
        return Rival(SCM(self.model.graph, specs), effect, flat)

    def _climb(self, goal: Goal, until: float) -> tuple[_SurfacePoint, bool]:
        """Climb to models with ever greater log-odds of the reward whose data stay the same.

        By conjugate gradients (Polak and Ribiere's), from the first model until the log-odds
        pass ``until``. Gives the last point, and whether the gradient vanishes there.
        """
        tables = self.points.to_tables(self.start)
        current = _SurfacePoint(
            self.start, tables, self._measure_residuals(tables)[1], *goal(tables)
        )
        gradient = direction = current.project(current.gradient)
        odds, length = [current.odds], _FIRST
        while current.odds < until and not _is_flat(gradient) and not _is_slow(odds):
            reached, length = self._take_step(current, direction, length, goal)
            if reached is None:
                break
            odds.append(reached.odds)
            current, last_gradient = reached, gradient
            gradient = current.project(current.gradient)
            weight = max(
                0.0,
                float(gradient @ (gradient - last_gradient) / (last_gradient @ last_gradient)),
            )
            direction = gradient + weight * current.project(direction)
            direction = direction if direction @ gradient > 0 else gradient
        return current, _is_flat(gradient)

    def _take_step(
        self, current: _SurfacePoint, direction: Floats, length: float, goal: Goal
    ) -> tuple[_SurfacePoint | None, float]:
        """Step from one model to another with the same data and greater log-odds of the reward.

        Tries ``length`` along ``direction``, then halves of it. Gives the point after the step,
        None where no step improves, and the length to try next.
        """
        while length > _SHORTEST:
            reached = self._return_to_surface(
                current.point + length * direction / np.abs(direction).max(), goal
            )
            if reached and reached.odds > current.odds:
                return reached, min(1.5 * length, _LONGEST)
            length /= 2
        return None, length

    def _return_to_surface(self, point: Floats, goal: Goal) -> _SurfacePoint | None:
        """Move a point by Newton's method until its model shows the log and tables again.

        Gives the point there, None if that fails.
        """
        last = np.inf
        for _ in range(5):
            tables = self.points.to_tables(point)
            with np.errstate(divide="ignore", invalid="ignore"):  # where a chance vanishes
                off, slopes = self._measure_residuals(tables)
            if (worst := float(np.abs(off).max())) < SAME:
                return _SurfacePoint(point, tables, slopes, *goal(tables))
            if not worst < 0.3 * last:
                return None
            move, last = _find_least_move(slopes, off), worst
            point = point - move / max(1.0, float(np.abs(move).max()))
        return None

    def _measure_residuals(self, tables: Tables) -> tuple[Floats, Floats]:
        """Measure how far a model's data are from those that all models here have to show.

        Gives the differences of the logarithms, and the slopes of these in the model's table
        entries.
        """
        law, slopes = self._log(tables)
        law /= law.sum()
        off, moves = [np.log(law / self._logged)], [slopes - law @ slopes]
        for law_slopes, known in zip(self._others, self._known, strict=True):
            law, slopes = law_slopes(tables)
            off.append(np.log(law / known))
            moves.append(slopes)
        return np.concatenate(off), np.vstack(moves)


def split_hidden_levels(model: SCM, rng: Generator) -> SCM:
    """Give each hidden cause twice its levels; nothing that can be seen or done changes.

    Each level becomes two. One of the nodes it moves depends on which, the more on one side the
    less on the other, so that rivals (models with the same data) can depend on more of what is
    hidden.

    >>> bow = {"C": ([], 0.5), "X": (["C"], [0.2, 0.8]), "Y": (["X", "C"], [[0.1, 0.3]] * 2)}
    >>> model = SCM.of(bow, hidden="C")
    >>> wide = split_hidden_levels(model, np.random.default_rng(0))
    >>> wide.n_levels["C"], round(wide.distribution().measure_gap(model.distribution()), 9)
    (4, 0.0)
    """
    tables = dict(model.tables)
    for cause in sort_names(model.hidden):
        moved = [node for node in sort_names(tables) if cause in tables[node].axes[:-1]]
        for node in [cause, *moved]:
            at = tables[node].axes.index(cause)
            chances = np.repeat(tables[node].values, 2, axis=at)
            tables[node] = NamedArray(tables[node].axes, chances / (2 if node == cause else 1))
        feels = str(rng.choice(moved))
        tables[feels] = _tilt_copies(tables[feels], cause, rng)
    specs = {node: (table.axes[:-1], table.values) for node, table in tables.items()}
    return SCM(model.graph, specs)


def _tilt_copies(table: NamedArray, cause: str, rng: Generator) -> NamedArray:
    """Make a node's chances differ between the two copies of each level of a hidden cause.

    They rise for one copy as they fall for the other, so that the mean stays.
    """
    at, chances = table.axes.index(cause), table.values
    shape, sides = list(chances.shape), [1] * chances.ndim
    sides[at] = shape[at]
    shape[at] //= 2
    lean = np.repeat(rng.uniform(-0.5, 0.5, shape), 2, axis=at)
    lean -= (chances * lean).sum(axis=-1, keepdims=True)
    side = np.resize([1.0, -1.0], sides)
    return NamedArray(table.axes, chances * (1 + side * lean))


def _is_flat(gradient: Floats) -> bool:
    """Tell whether the gradient of the reward's log-odds is next to zero, the data kept.

    Then no step improves.
    """
    return bool(np.abs(gradient).max() < _FLAT)


def _is_slow(odds: Sequence[float]) -> bool:
    """Tell whether the last steps hardly raised the log-odds, or all steps are used up.

    ``odds`` has the log-odds after every step so far.
    """
    late = len(odds) > _PATIENCE and odds[-1] - odds[-1 - _PATIENCE] < _GAIN
    return late or len(odds) > _STEPS


def _find_least_move(slopes: Floats, change: Floats) -> Floats:
    """Find the shortest move of a model's point that changes the logarithms of its data so.

    ``slopes`` are those of the data, ``change`` is what they have to change by. Slopes depend
    on each other where the graph makes the log obey something, so a ridge is needed; rounds of
    refinement undo it in all directions that there are.
    """
    gram = slopes @ slopes.T
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram)
    factor = cho_factor(gram, check_finite=False)
    move = np.zeros(slopes.shape[1])
    for _ in range(_ROUNDS):
        left = change - slopes @ move
        move += slopes.T @ cho_solve(factor, left, check_finite=False)
    return move

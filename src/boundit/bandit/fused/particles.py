"""Weights that nobody sees: a few hundred laws that they may have, weighed by rewards alone.

Every particle is one possible law of all that is unknown: uniform over laws, by numbers that
spread evenly, with the corners where one cell has it all; or, where rows of the log tell of the
laws up to a tilt, one tilt for all pools. Given a particle and a tau, a pair's mean has its
moments, and a Beta law that has the same. Rewards then weigh particles and taus and move the
Beta laws, exactly in this approximate model: pairs with the same cells and laws are one *unit*,
and units that share some of them count as independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import NamedTuple, TypeAlias, final

import numpy as np

from boundit.bandit.fused.arrays import FusedLayout
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.terms.fused_plan import FusedPlan

N_PARTICLES = 400
"""How many laws stand for all, besides corners."""
_MOST_CORNERS = 64
_SPREAD = 1.5
"""The scale of the logistic law that a log tilt has at first."""
_ENDLESS = 1e3
"""What stands for an infinite tau in a spread: the Beta law is then as wide as it can be."""
LEAST_WEIGHT = 1e-12
"""A particle's weight never falls below, so that it can come back."""

Unknown: TypeAlias = tuple[int, int]
"""A factor and one of its pools; -1 for the tilt that all pools of the factor share."""


class ParticleLaws(NamedTuple):
    """What particles say of each unit, which never changes: Beta laws, a belief included.

    ``units`` is the unit of each pair and ``groups`` the set of particles of each unit;
    ``wins`` and ``trials`` are taus x units x particles.
    """

    units: Places
    groups: Places
    wins: Floats
    trials: Floats


class ParticleCounts(NamedTuple):
    """What rewards taught of particles: rewards of each unit, and weights.

    ``units`` has wins and losses; ``weights`` are taus x groups x particles, and ``taus`` has
    log weights and weights as those of ``FusedCounts``.
    """

    units: Floats
    weights: Floats
    taus: Floats


def make_no_particles() -> tuple[ParticleLaws, ParticleCounts]:
    """Make empty arrays for kernels of a policy that sees what its plan asks for."""
    none = np.zeros(0, np.int64)
    laws = ParticleLaws(none, none, np.zeros((0, 0, 0)), np.zeros((0, 0, 0)))
    return laws, ParticleCounts(np.zeros((0, 2)), np.zeros((0, 0, 0)), np.zeros((0, 2)))


@final
@dataclass(frozen=True, eq=False)
class Particles:
    """The particles of a plan as Beta laws for kernels, and how likely each tau is at first."""

    laws: ParticleLaws
    log_prior: Floats

    @classmethod
    def of(cls, plan: FusedPlan, layout: FusedLayout, taus: Sequence[float]) -> "Particles":
        """Spread particles over all that is unknown in a plan, and sum up each unit's means."""
        nodes = _list_nodes(plan)
        rows = np.concatenate([layout.pools, layout.cells], axis=1)
        _, first, units = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        unknown = [_list_unknown(plan, nodes, pair) for pair in first.tolist()]
        groups = tuple(dict.fromkeys(unknown))
        n, chances = _spread(plan, groups)
        places = np.array([groups.index(found) for found in unknown], np.int64)
        moments = [
            _sum_unit(plan, layout, nodes, pair, n, chances[place], taus)
            for pair, place in zip(first.tolist(), places.tolist(), strict=True)
        ]
        means, variances = (np.stack(part, axis=1) for part in zip(*moments, strict=True))
        trials = np.maximum(means * (1.0 - means) / variances - 1.0, 2.0)
        laws = ParticleLaws(
            units.reshape(-1).astype(np.int64),
            places,
            np.ascontiguousarray(means * trials),
            np.ascontiguousarray(trials),
        )
        return cls(laws, layout.log_prior)

    def make_counts(self) -> ParticleCounts:
        """Make the weights of particles that no reward has weighed."""
        n_taus, n_units, size = self.laws.wins.shape
        n_groups = int(self.laws.groups.max(initial=-1)) + 1
        return ParticleCounts(
            np.zeros((n_units, 2)),
            np.full((n_taus, n_groups, size), 1.0 / size),
            np.stack([self.log_prior, np.exp(self.log_prior)], axis=1),
        )


def _list_nodes(plan: FusedPlan) -> list[tuple[int, int]]:
    """List the nodes of the tree that a plan's factors make: a factor and a prefix each."""
    found, prefixes = list[tuple[int, int]](), 1
    for j, factor in enumerate(plan.factors):
        found += [(j, prefix) for prefix in range(prefixes)]
        prefixes *= len(factor.cells)
    return found


def _name_unknown(plan: FusedPlan, node: tuple[int, int], pair: int) -> Unknown | None:
    """Name the unknown law of a pair at a node; None where rows of the log are draws of it."""
    j, prefix = node
    factor = plan.factors[j]
    if factor.shares is not None:
        return j, -1
    pool = factor.pools[pair][prefix]
    return None if any(factor.counts[pool]) else (j, pool)


def _list_unknown(
    plan: FusedPlan, nodes: Sequence[tuple[int, int]], pair: int
) -> tuple[Unknown, ...]:
    """List all unknown laws and tilts that a pair's mean hangs on, each once."""
    named = (_name_unknown(plan, node, pair) for node in nodes)
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _spread(
    plan: FusedPlan, groups: Sequence[tuple[Unknown, ...]]
) -> tuple[int, list[dict[Unknown, Floats]]]:
    """Spread particles over the unknown laws of each group; all groups have as many.

    Gives how many, and the laws of each group, particles x cells.
    """
    corners = [_list_corners(plan, group) for group in groups]
    n = N_PARTICLES + max((len(found) for found in corners), default=0)
    return n, [
        _spread_group(plan, group, found, n)
        for group, found in zip(groups, corners, strict=True)
    ]


def _list_corners(plan: FusedPlan, group: Sequence[Unknown]) -> list[tuple[int, ...]]:
    """List the corners of a group: for each unknown law the one cell that has it all.

    None where the group is one law of two cells, whose ends the others reach, or has no law but
    a tilt.
    """
    sizes = [len(plan.factors[j].cells) for j, pool in group if pool >= 0]
    if sum(sizes) <= 2:
        return []
    return list(islice(product(*map(range, sizes)), _MOST_CORNERS))


def _spread_group(
    plan: FusedPlan, group: Sequence[Unknown], corners: Sequence[tuple[int, ...]], n: int
) -> dict[Unknown, Floats]:
    """Spread ``n`` particles over the laws of one group, the corners among them."""
    sizes = [len(plan.factors[j].cells) for j, _ in group]
    points = spread_points(n, sum(sizes) - len(sizes))
    found, at, law = dict[Unknown, Floats](), 0, 0
    for (j, pool), size in zip(group, sizes, strict=True):
        part = points[:, at : at + size - 1]
        at += size - 1
        if pool < 0:
            tilt = _SPREAD * np.log(part / (1.0 - part))
            found[j, pool] = np.concatenate([np.zeros((n, 1)), tilt], axis=1)
            continue
        chances = break_sticks(part)
        for i, corner in enumerate(corners):
            chances[i] = np.arange(size) == corner[law]
        found[j, pool] = chances
        law += 1
    return found


def spread_points(n: int, dimensions: int) -> Floats:
    """Spread points evenly in a cube, by steps that no whole numbers relate (Roberts 2018).

    On a line they are equally far from each other.

    >>> spread_points(4, 1).ravel().tolist(), spread_points(3, 2).shape
    ([0.125, 0.375, 0.625, 0.875], (3, 2))
    """
    if dimensions <= 1:
        return ((np.arange(n) + 0.5) / n)[:, None][:, :dimensions]
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    found: Floats = (0.5 + np.outer(np.arange(1, n + 1), steps)) % 1.0
    # The ends of a stick are corners, which come by themselves.
    return np.clip(found, 1e-6, 1.0 - 1e-6)


def break_sticks(points: Floats) -> Floats:
    """Turn points of a cube into laws of one more cell, uniform over all laws.

    >>> break_sticks(np.array([[0.25]])).tolist()
    [[0.75, 0.25]]
    """
    n, size = len(points), points.shape[1] + 1
    found, left = np.empty((n, size)), np.ones(n)
    for k in range(size - 1, 0, -1):
        # What is left of a stick after the largest of k points, each uniform on it.
        part = left * (1.0 - (1.0 - points[:, k - 1]) ** (1.0 / k))
        found[:, k] = part
        left = left - part
    found[:, 0] = left
    return found


def _find_law(
    plan: FusedPlan, node: tuple[int, int], pair: int, chances: dict[Unknown, Floats]
) -> Floats | None:
    """Find the law of a pair at a node, particles x cells; None where the log knows it."""
    j, prefix = node
    factor, name = plan.factors[j], _name_unknown(plan, node, pair)
    if name is None or factor.shares is None:
        return None if name is None else chances[name]
    shares = np.array(factor.shares[factor.pools[pair][prefix]], np.float64)
    raised = np.log(shares + 0.5) + chances[name]
    raised -= raised.max(axis=1, keepdims=True)
    found: Floats = np.exp(raised)
    found /= found.sum(axis=1, keepdims=True)
    return found


def _sum_unit(
    plan: FusedPlan,
    layout: FusedLayout,
    nodes: Sequence[tuple[int, int]],
    pair: int,
    n: int,
    chances: dict[Unknown, Floats],
    taus: Sequence[float],
) -> tuple[Floats, Floats]:
    """Sum up mean and variance of a unit under each tau and particle, from the leaves on.

    By rows of the log alone. Gives taus x particles.
    """
    cells = layout.cells[pair]
    wins, losses = layout.wins[:, cells], layout.losses[:, cells]
    x, trials = wins / (wins + losses), wins + losses
    spread = x * (1.0 - x) / (trials + 1.0)
    means: list[Floats] = [np.zeros((0, 0))] * len(nodes)
    variances: list[Floats] = [np.zeros((0, 0))] * len(nodes)
    for k in range(len(cells)):
        means.append(np.repeat(x[:, k : k + 1], n, axis=1))
        variances.append(np.repeat(spread[:, k : k + 1], n, axis=1))
    for i in range(len(nodes) - 1, -1, -1):
        below = slice(int(layout.starts[i]) + 1, int(layout.starts[i + 1]) + 1)
        inner = np.stack(means[below], axis=2), np.stack(variances[below], axis=2)
        tied = bool(layout.tied[pair, i])
        law = _find_law(plan, nodes[i], pair, chances)
        if law is None:
            at = int(layout.pools[pair, i])
            rows = layout.weights[:, at : at + inner[0].shape[2]]
            means[i], variances[i] = _sum_known(rows, *inner, tied=tied)
        else:
            means[i], variances[i] = _sum_node(law, *inner, tied=tied)
            variances[i] += _sum_tilt(plan, nodes[i], pair, law, inner[0], taus)
    return means[0], variances[0]


def _sum_node(
    law: Floats, means: Floats, variances: Floats, *, tied: bool
) -> tuple[Floats, Floats]:
    """Sum up mean and variance over the cells of a law that a particle states exactly."""
    if tied:
        return (law * means).sum(axis=2), (law * np.sqrt(variances)).sum(axis=2) ** 2
    return (law * means).sum(axis=2), (law**2 * variances).sum(axis=2)


def _sum_known(
    rows: Floats, means: Floats, variances: Floats, *, tied: bool
) -> tuple[Floats, Floats]:
    """Sum up mean and variance over the cells of a law that rows of the log are draws of."""
    total = rows.sum(axis=1)[:, None, None]
    law = rows[:, None, :] / total
    mean, variance = _sum_node(law, means, variances, tied=tied)
    more = (law * (means**2 + variances)).sum(axis=2) - mean**2 - variance
    return mean, variance + np.maximum(more, 0.0) / (total[:, :, 0] + 1.0)


def _sum_tilt(
    plan: FusedPlan,
    node: tuple[int, int],
    pair: int,
    law: Floats,
    means: Floats,
    taus: Sequence[float],
) -> Floats:
    """Sum up the variance that shares of the log bring into a tilted law; 0 without a tilt."""
    factor = plan.factors[node[0]]
    if factor.shares is None:
        return np.zeros(means.shape[:2])
    shares = np.array(factor.shares[factor.pools[pair][node[1]]], np.float64)
    sizes = np.array([min(tau, _ENDLESS) for tau in taus])[:, None]
    doubled = 1.0 / (shares + 0.5) + sizes**2 / 2.0
    mean = (law * means).sum(axis=2, keepdims=True)
    found: Floats = ((law * (means - mean)) ** 2 * doubled[:, None, :]).sum(axis=2)
    return found

"""How near models come, and where they fail: ``python -m research.benchmarks ml``.

Worlds whose truth is known are logged again and again. Each log is bounded by
``derive_bounds(inference="approximate", models=...)`` and, on the same rows with estimators of
the same settings, by DoubleML (average potential outcomes, joint intervals by its bootstrap).
A line tells how often the intervals of both arms held at once, and how wide they are, as ratios
to the interval of somebody who knows the true means and propensities.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import boundit as bd
from boundit.bounds.inference.approximate import find_critical
from boundit.bounds.models.estimators import make_estimator
from boundit.bounds.models.options import ModelKind

Array = NDArray[np.float64]
ERROR = 0.05


def _squash(value: Array) -> Array:
    return 1 / (1 + np.exp(-value))


@dataclass(frozen=True)
class CovariateWorld:
    """Covariates, the chance of arm 1 given them, and the mean reward of each arm."""

    n_covariates: int
    propensity: Callable[[Array], Array]
    mean: Callable[[Array, int], Array]

    def draw(self, n: int, rng: Generator) -> tuple[Array, Array, Array]:
        z = rng.normal(size=(n, self.n_covariates))
        x = (rng.random(n) < self.propensity(z)).astype(float)
        chance = np.where(x == 1, self.mean(z, 1), self.mean(z, 0))
        return z, x, (rng.random(n) < chance).astype(float)

    def find_truth(self) -> Array:
        z = np.random.default_rng(1).normal(size=(2_000_000, self.n_covariates))
        return np.array([self.mean(z, x).mean() for x in range(2)])

    def bound_by_oracle(self, z: Array, x: Array, y: Array) -> Array:
        """Bound both arms with the true means and propensities: the best that can be had."""
        e = self.propensity(z)
        scores = []
        for arm, chance in ((0, 1 - e), (1, e)):
            m = self.mean(z, arm)
            scores.append(m + (x == arm) / chance * (y - m))
        covariance = np.cov(scores) / len(y)
        both = np.block([[covariance, -covariance], [-covariance, covariance]])
        far = find_critical(ERROR, both) * np.sqrt(np.diag(covariance))
        middle = np.mean(scores, axis=1)
        return np.column_stack([middle - far, middle + far])


def _step(z: Array) -> Array:
    return (np.sin(4 * z) > 0).astype(float)


WORLDS = {
    "smooth": CovariateWorld(
        5,
        lambda z: _squash(0.6 * z[:, 0] + 0.4 * z[:, 1]),
        lambda z, x: _squash(0.7 * z[:, 0] - 0.5 * z[:, 2] + 0.3 * z[:, 0] * z[:, 1] + 0.5 * x),
    ),
    "rough": CovariateWorld(
        5,
        lambda z: 0.25 + 0.5 * _step(z[:, 0]),
        lambda z, x: 0.2 + 0.4 * _step(z[:, 0]) + 0.2 * x,
    ),
    "sparse": CovariateWorld(
        30,
        lambda z: _squash(0.8 * z[:, 0] - 0.4 * z[:, 1]),
        lambda z, x: _squash(0.8 * z[:, 0] + 0.4 * (np.abs(z[:, 1]) > 1) + 0.5 * x),
    ),
    "weak overlap": CovariateWorld(
        5,
        lambda z: _squash(2.5 * z[:, 0]),
        lambda z, x: _squash(z[:, 0] + 0.5 * x),
    ),
}
GRAPH = "Z = {{{names}}}; Z -> X; Z -> Y; X -> Y"


def bound_by_us(z: Array, x: Array, y: Array, kind: ModelKind) -> Array:
    names = [f"Z{i}" for i in range(z.shape[1])]
    rows: dict[str, object] = dict(zip(names, z.T, strict=True))
    rows |= {"X": x.astype(int), "Y": y.astype(int)}
    table = bd.derive_bounds(
        GRAPH.format(names=", ".join(names)),
        "Y | do(X)",
        rows,
        inference="approximate",
        models=kind,
    )
    return np.array([[bound.lower, bound.upper] for bound in table.bounds.values()])


def bound_by_peer(z: Array, x: Array, y: Array, kind: ModelKind) -> Array:
    import doubleml as dml  # noqa: PLC0415, a peer, for benchmarks only

    np.random.seed(0)  # noqa: NPY002, the peer draws folds and its bootstrap from here
    data = dml.DoubleMLData.from_arrays(z, y, x)
    model = dml.DoubleMLAPOS(
        data,
        make_estimator(kind, probabilities=True),
        make_estimator(kind, probabilities=True),
        treatment_levels=[0, 1],
        n_folds=5,
    )
    found = model.fit().bootstrap().confint(joint=True, level=1 - ERROR)
    return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True)
class Tally:
    """How often intervals held at once, how wide they are, and the seconds for a log."""

    held: float
    width: float
    seconds: float


def measure(
    bound: Callable[[Array, Array, Array], Array],
    logs: Sequence[tuple[Array, Array, Array]],
    truth: Array,
) -> Tally:
    start = time.process_time()
    found = np.array([bound(*log) for log in logs])
    seconds = (time.process_time() - start) / len(logs)
    held = ((found[:, :, 0] <= truth) & (truth <= found[:, :, 1])).all(axis=1)
    return Tally(float(held.mean()), float(np.ptp(found, axis=2).mean()), seconds)


def run(given: Sequence[str] = ()) -> None:
    asked = _read_options(given)
    warnings.simplefilter("ignore")  # what peers warn of is theirs
    print(f"{asked.logs} logs a line; held: both arms at once, of {1 - ERROR:.0%} promised;")
    print("width: ratio to that of an interval with the true means and propensities")
    head = ("world", "rows", "models", "oracle", "held", "width", "s", "held", "width", "s")
    print(f"{'':36}{'':>15}{'boundit':>21}{'DoubleML':>21}")
    print("{:<14}{:>8}  {:<10}{:>15}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}".format(*head), flush=True)
    for name in asked.worlds:
        for n in asked.rows:
            _print_lines(name, n, asked)


def _print_lines(name: str, n: int, asked: Any) -> None:
    world = WORLDS[name]
    truth = world.find_truth()
    rng = np.random.default_rng([n, *map(ord, name)])
    logs = [world.draw(n, rng) for _ in range(asked.logs)]
    best = measure(world.bound_by_oracle, logs, truth)
    for kind in asked.kinds:
        line = f"{name:<14}{n:>8,}  {kind:<10}{best.held:>8.2f} {best.width:.4f}"
        for bound in (bound_by_us, bound_by_peer):
            found = measure(lambda *log, by=bound, of=kind: by(*log, of), logs, truth)
            line += f"{found.held:>7.2f}{found.width / best.width:>7.2f}{found.seconds:>7.2f}"
        print(line, flush=True)


def _read_options(given: Sequence[str]) -> Any:
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.ml", description=__doc__
    )
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--rows", nargs="*", type=int, default=[500, 2_000, 8_000])
    parser.add_argument("--kinds", nargs="*", default=["linear", "boosting"])
    parser.add_argument("--logs", type=int, default=100)
    return parser.parse_args(given)


if __name__ == "__main__":
    import sys

    run(sys.argv[1:])

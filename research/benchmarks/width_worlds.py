"""Worlds whose identified sets and best possible normal intervals are known.

Every world has a law of its logged rows, a formula for both ends of the identified set as a
plain function of that law (written down here, not taken from the package), and the truth. The
variance of an estimated end follows from the formula alone: its derivative by the share of each
kind of row is taken by a complex step, which is exact to rounding, and gives the influence
function at the true law.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import norm

import boundit as bd

Law: TypeAlias = NDArray[Any]
"""Shares of all kinds of rows, an axis a variable; complex where a derivative is taken."""
Formula: TypeAlias = Callable[[Sequence[Law]], tuple[Law, Law]]
"""From the law of the log, and those of external tables, to both ends at every row."""
STEP = 1e-30
BINARY = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class LogLaw:
    """Which variables a log or an external table has, and the law of its rows."""

    names: tuple[str, ...]
    shares: Law

    def draw(self, n: int, rng: Generator) -> NDArray[np.int64]:
        """Draw how many of ``n`` rows are of each kind."""
        return rng.multinomial(n, self.shares.ravel()).reshape(self.shares.shape)


@dataclass(frozen=True, eq=False)
class WidthWorld:
    """A graph, a question, the laws of log and external tables, and what is true."""

    graph: str
    query: str
    log: LogLaw
    ends: Formula
    truth: Law
    external: tuple[LogLaw, ...] = ()
    pays: tuple[float, ...] = BINARY
    options: Mapping[str, object] = field(default_factory=dict)
    distinct: int | None = None
    """How many rows of the table differ, where the formula does not read all coordinates."""
    aipw: bool = False
    """Whether it is a back door, so that AIPW has an interval: axes (context,) strata, arm."""

    @property
    def laws(self) -> tuple[LogLaw, ...]:
        return (self.log, *self.external)

    @property
    def rows(self) -> int:
        return self.distinct or self.truth.size

    def true_ends(self) -> tuple[Law, Law]:
        """Both ends of the identified set."""
        lower, upper = self.ends([law.shares for law in self.laws])
        return lower, upper

    def errors(self, n: int) -> tuple[Law, Law]:
        """The standard errors of both ends estimated from logs of ``n`` rows."""
        variances = np.zeros((2, *self.truth.shape))
        shares = [law.shares for law in self.laws]
        for which, of in enumerate(shares):
            for place in np.ndindex(of.shape):
                towards = -of.astype(complex)
                towards[place] += 1
                moved = [*shares]
                moved[which] = of + 1j * STEP * towards
                slopes = np.stack(self.ends(moved)).imag / STEP
                variances += of[place] * slopes**2 / n
        lower, upper = np.sqrt(variances)
        return lower, upper

    def oracle(self, n: int, confidence: float) -> float:
        """The mean width of the normal intervals with true variances, Bonferroni over rows."""
        z = norm.ppf(1 - (1 - confidence) / (2 * self.rows))
        lower, upper = self.true_ends()
        error_below, error_above = self.errors(n)
        return float(np.mean(upper - lower + z * (error_below + error_above)))

    def draw(self, n: int, rng: Generator) -> list[NDArray[np.int64]]:
        """Draw the counts of a log of ``n`` rows, and of external tables of as many."""
        return [law.draw(n, rng) for law in self.laws]

    def derive(self, counts: Sequence[Law], **options: object) -> bd.BoundTable:
        """Bound the arms on drawn counts, all levels declared."""
        outcome = bd.parse_query(self.query).outcomes[0]
        logs = []
        for law, n in zip(self.laws, counts, strict=True):
            there = n.ravel() > 0
            levels = np.indices(n.shape).reshape(n.ndim, -1)[:, there]
            columns = dict(zip(law.names, levels, strict=True))
            if outcome in columns:
                columns[outcome] = np.array(self.pays)[columns[outcome]]
            columns["n"] = n.ravel()[there]
            listed = {name: column.tolist() for name, column in columns.items()}
            logs.append(bd.read_log(listed, weight="n", exact=n.dtype.kind == "f"))
        domain = {
            name: list(range(size))
            for law in self.laws
            for name, size in zip(law.names, law.shares.shape, strict=True)
            if name != outcome
        }
        given = dict(self.options) | options
        return bd.derive_bounds(
            bd.parse_graph(self.graph),
            self.query,
            logs[0],
            external=logs[1:],
            domain=domain,
            **given,  # type: ignore[arg-type]
        )

    def compare_formula(self) -> float:
        """How far the package's ends of the exact law are from the formula's."""
        table = self.derive([law.shares for law in self.laws], confidence=None)
        lower, upper = self.true_ends()
        ends = {read_place(key): bound for key, bound in table.bounds.items()}
        gaps = [
            max(abs(bound.lower - lower[place]), abs(bound.upper - upper[place]))
            for place, bound in ends.items()
        ]
        return float(max(gaps))

    def estimate_aipw(self, counts: Law, confidence: float) -> tuple[Law, Law]:
        """Centre and half width of AIPW's intervals, with cell means for outcome and arm.

        A stratum without the arm gets the arm's mean, and no variance of its own.
        """
        n = np.asarray(counts, dtype=float)
        if n.ndim == 3:
            n = n[None]
        n = n.reshape(n.shape[0], -1, *n.shape[-2:])
        pays = np.array(self.pays)
        cell = n.sum(-1)
        with np.errstate(all="ignore"):
            mean = (n @ pays) / cell
            arm = (n @ pays).sum(1, keepdims=True) / cell.sum(1, keepdims=True)
            spread = (n @ pays**2) / cell - mean**2
            share = cell.sum(-1) / cell.sum((1, 2))[:, None]
            propensity = cell / cell.sum(-1, keepdims=True)
            mean = np.where(cell > 0, mean, arm)
            centre = (share[:, :, None] * np.nan_to_num(mean)).sum(1)
            inner = (mean - centre[:, None]) ** 2 + np.where(cell > 0, spread / propensity, 0.0)
            variance = (share[:, :, None] * np.nan_to_num(inner)).sum(1)
            half = np.sqrt(variance / cell.sum((1, 2))[:, None])
        half *= norm.ppf(1 - (1 - confidence) / (2 * self.rows))
        # From (context, arm) to (arm, context), the order of rows.
        shape = self.truth.shape
        return centre.T.reshape(shape), half.T.reshape(shape)


def read_place(key: tuple[tuple[object, ...], tuple[object, ...]]) -> tuple[int, ...]:
    """Where an arm and a context stand in the arrays of ends; all levels are numbers."""
    arm, context = key
    return tuple(int(str(level)) for level in (*arm, *context))


def least(values: Law, axis: int) -> Law:
    """The least along an axis by the real part, so that a derivative passes through."""
    place = values.real.argmin(axis, keepdims=True)
    found: Law = np.take_along_axis(values, place, axis).squeeze(axis)
    return found


def greatest(values: Law, axis: int) -> Law:
    """The greatest along an axis by the real part."""
    return -least(-values, axis)


def point(formula: Callable[[Sequence[Law]], Law]) -> Formula:
    """Both ends of an effect that is identified."""

    def ends(laws: Sequence[Law]) -> tuple[Law, Law]:
        value = formula(laws)
        return value, value

    return ends


def means(law: Law, pays: Sequence[float] = BINARY) -> Law:
    """Mean pay in each cell; the outcome is the last axis."""
    found: Law = (law @ np.array(pays)) / law.sum(-1)
    return found


def draw_chances(
    shape: tuple[int, ...], rng: Generator, low: float = 0.05, high: float = 0.95
) -> Law:
    """Chances of an event, evenly between two ends."""
    return rng.uniform(low, high, shape)


def draw_shares(shape: tuple[int, ...], rng: Generator, floor: float = 0.0) -> Law:
    """Distributions along the last axis, none of whose shares is below ``floor``."""
    k = shape[-1]
    return floor + (1 - k * floor) * rng.dirichlet(np.ones(k), size=shape[:-1])


def add_event(shares: Law, chance: Law) -> Law:
    """A law with a 0/1 variable more, which happens with this chance."""
    return np.stack([shares * (1 - chance), shares * chance], axis=-1)


def make_propensity(shape: tuple[int, ...], kind: str, rng: Generator) -> Law:
    """Chances of the second arm: mild .2 to .8, sparse .02 to .98 and mostly near the ends."""
    if kind == "sparse":
        return 0.02 + 0.96 * rng.beta(0.5, 0.5, shape)
    return rng.uniform(0.2, 0.8, shape)


def make_back_door(strata: int, kind: str, seed: int) -> WidthWorld:
    """One covariate with many levels."""
    rng = np.random.default_rng([seed, strata, len(kind)])
    share = draw_shares((strata,), rng, floor=0.25 / strata)
    zx = add_event(share, make_propensity((strata,), kind, rng))
    low, high = (0.005, 0.04) if kind == "rare" else (0.05, 0.95)
    law = add_event(zx, draw_chances((strata, 2), rng, low, high))

    def formula(laws: Sequence[Law]) -> Law:
        p = laws[0]
        value: Law = (p.sum((1, 2))[:, None] * means(p)).sum(0)
        return value

    log = LogLaw(("Z", "X", "Y"), law)
    graph = "Z -> X; Z -> Y; X -> Y"
    return WidthWorld(graph, "Y | do(X)", log, point(formula), formula([law]), aipw=True)


def make_six_confounders(seed: int) -> WidthWorld:
    """Six independent 0/1 causes of arm and reward: 64 strata."""
    rng = np.random.default_rng([seed, 6])
    share = np.ones(())
    for _ in range(6):
        share = add_event(share, np.asarray(rng.uniform(0.3, 0.7)))
    shape = share.shape
    law = add_event(add_event(share, make_propensity(shape, "mild", rng)),
                    draw_chances((*shape, 2), rng))  # fmt: skip

    def formula(laws: Sequence[Law]) -> Law:
        p, weights = laws[0], np.ones(())
        for i in range(6):
            mine = p.sum(tuple(j for j in range(8) if j != i))
            weights = weights[..., None] * mine
        value: Law = (weights[..., None] * means(p)).sum(tuple(range(6)))
        return value

    names = [f"Z{i}" for i in range(6)]
    graph = "; ".join(f"{z} -> X; {z} -> Y" for z in names) + "; X -> Y"
    log = LogLaw((*names, "X", "Y"), law)
    return WidthWorld(graph, "Y | do(X)", log, point(formula), formula([law]), aipw=False)


def make_front_door(seed: int) -> WidthWorld:
    """A mediator of three levels; arm and reward have a hidden cause."""
    rng = np.random.default_rng([seed, 3])
    u = np.array([0.5, 0.5])
    ux = add_event(u, np.array([0.3, 0.7]))
    uxm = ux[:, :, None] * draw_shares((2, 3), rng, floor=0.1)
    reward = draw_chances((2, 3), rng)
    law = add_event(uxm, np.broadcast_to(reward[:, None, :], uxm.shape)).sum(0)

    def formula(laws: Sequence[Law]) -> Law:
        p = laws[0]
        inner = (p.sum((1, 2))[:, None] * means(p)).sum(0)
        mediator = p.sum(2) / p.sum((1, 2))[:, None]
        value: Law = (mediator * inner).sum(1)
        return value

    log = LogLaw(("X", "M", "Y"), law)
    return WidthWorld("X -> M -> Y; X <-> Y", "Y | do(X)", log, point(formula), formula([law]))


def make_two_steps(seed: int) -> WidthWorld:
    """Two arms, the second chosen after an answer to the first; covariates of three levels."""
    rng = np.random.default_rng([seed, 33])
    z1 = draw_shares((3,), rng, floor=0.15)
    z1x1 = add_event(z1, make_propensity((3,), "mild", rng))
    z1x1z2 = z1x1[..., None] * draw_shares((3, 2, 3), rng, floor=0.15)
    before = add_event(z1x1z2, make_propensity((3, 2, 3), "mild", rng))
    law = add_event(before, draw_chances((3, 2, 3, 2), rng))

    def formula(laws: Sequence[Law]) -> Law:
        p = laws[0]
        first = p.sum((1, 2, 3, 4))[:, None, None]
        second = p.sum((3, 4)) / p.sum((2, 3, 4))[..., None]
        value: Law = ((first * second)[..., None] * means(p)).sum((0, 2))
        return value

    log = LogLaw(("Z1", "X1", "Z2", "X2", "Y"), law)
    graph = "Z1 -> X1, Z2, X2, Y; X1 -> Z2, X2, Y; Z2 -> X2, Y; X2 -> Y"
    return WidthWorld(
        _spell_edges(graph), "Y | do(X1, X2)", log, point(formula), formula([law])
    )


def make_context(seed: int) -> WidthWorld:
    """Four contexts, a covariate of eight levels in each."""
    rng = np.random.default_rng([seed, 48])
    share = 0.25 * draw_shares((4, 8), rng, floor=0.25 / 8)
    before = add_event(share, make_propensity((4, 8), "mild", rng))
    law = add_event(before, draw_chances((4, 8, 2), rng))

    def formula(laws: Sequence[Law]) -> Law:
        p = laws[0]
        weights = p.sum((2, 3)) / p.sum((1, 2, 3))[:, None]
        value: Law = (weights[..., None] * means(p)).sum(1).T
        return value

    log = LogLaw(("C", "Z", "X", "Y"), law)
    graph = _spell_edges("C -> Z, X, Y; Z -> X, Y; X -> Y")
    return WidthWorld(graph, "Y | do(X), C", log, point(formula), formula([law]), aipw=True)


def make_external(seed: int) -> WidthWorld:
    """Selection by the covariate, whose law an external table has."""
    rng = np.random.default_rng([seed, 8])
    share = draw_shares((8,), rng, floor=0.25 / 8)
    before = add_event(share, make_propensity((8,), "mild", rng))
    everyone = add_event(before, draw_chances((8, 2), rng))
    kept = everyone * rng.uniform(0.2, 0.9, 8)[:, None, None]

    def formula(laws: Sequence[Law]) -> Law:
        value: Law = (laws[1][:, None] * means(laws[0])).sum(0)
        return value

    log, table = LogLaw(("Z", "X", "Y"), kept / kept.sum()), LogLaw(("Z",), share)
    graph = "Z -> X; Z -> Y; X -> Y; Z -> [S]"
    truth = formula([log.shares, share])
    return WidthWorld(graph, "Y | do(X)", log, point(formula), truth, external=(table,))


def make_min_of_sum(seed: int, *, external: bool) -> WidthWorld:
    """A cause of the reward by which rows were selected: the least and greatest of its levels.

    The covariate's law is that of the log, or of an external table.
    """
    rng = np.random.default_rng([seed, 83, int(external)])
    share = draw_shares((8,), rng, floor=0.25 / 8)
    hidden = draw_shares((3,), rng, floor=0.15)
    zb = share[:, None] * hidden
    before = add_event(zb, np.broadcast_to(make_propensity((8, 1), "mild", rng), (8, 3)))
    reward = np.clip(
        draw_chances((8, 1, 2), rng, 0.2, 0.6) + np.array([0.0, 0.1, 0.25])[:, None], 0.0, 1.0
    )
    everyone = add_event(before, reward)
    rates = rng.uniform(0.2, 0.9, (8 if external else 1, 3))
    kept = everyone * rates[:, :, None, None]
    log = LogLaw(("Z", "B", "X", "Y"), kept / kept.sum())

    def ends(laws: Sequence[Law]) -> tuple[Law, Law]:
        weights = laws[1] if external else laws[0].sum((1, 2, 3))
        sums = (weights[:, None, None] * means(laws[0])).sum(0)
        return least(sums, 0), greatest(sums, 0)

    truth = (zb[:, :, None] * reward).sum((0, 1))
    graph = "Z -> X; Z -> Y; X -> Y; B -> Y; B -> [S]"
    tables = (LogLaw(("Z",), share),) if external else ()
    return WidthWorld(
        graph + ("; Z -> S" if external else ""), "Y | do(X)", log, ends, truth, tables
    )


def make_sequence(seed: int) -> WidthWorld:
    """A covariate of ten levels, and within each a cause of the reward of unknown law."""
    rng = np.random.default_rng([seed, 103])
    share = draw_shares((10,), rng, floor=0.025)
    logged = share[:, None] * draw_shares((10, 3), rng, floor=0.1)
    before = add_event(logged, make_propensity((10, 1), "mild", rng))
    reward = draw_chances((10, 3, 2), rng, 0.2, 0.8)
    law = add_event(before, reward)

    def ends(laws: Sequence[Law]) -> tuple[Law, Law]:
        weights, cells = laws[0].sum((1, 2, 3)), means(laws[0])
        return (
            (weights[:, None] * least(cells, 1)).sum(0),
            (weights[:, None] * greatest(cells, 1)).sum(0),
        )

    # Any law of B given A within the population fits what was logged.
    truth = ((share[:, None] * draw_shares((10, 3), rng))[..., None] * reward).sum((0, 1))
    log = LogLaw(("A", "B", "X", "Y"), law)
    graph = _spell_edges("A -> X, B, Y; X -> Y; B -> Y") + "; B <-> [S]"
    return WidthWorld(graph, "Y | do(X)", log, ends, truth)


def make_napkin(seed: int) -> WidthWorld:
    """An effect whose formula is one ratio."""
    rng = np.random.default_rng([seed, 7])
    hidden = np.full((2, 2), 0.25)
    w = hidden[..., None] * draw_shares((2, 2, 3), rng, floor=0.1)
    wz = add_event(w, rng.uniform(0.3, 0.7, 3))
    treat = np.stack([[0.35, 0.65], [0.3, 0.7]], axis=-1)
    wzx = add_event(wz, np.broadcast_to(treat[:, None, None, :], wz.shape))
    reward = draw_chances((2, 2), rng, 0.2, 0.8)
    law = add_event(wzx, np.broadcast_to(reward[None, :, None, None, :], wzx.shape))
    law = law.sum((0, 1))

    def formula(laws: Sequence[Law], *, z: int) -> Law:
        p = laws[0]
        given = p.sum((1, 2, 3))[:, None, None, None] * p / p.sum((2, 3), keepdims=True)
        both = given.sum(0)[z]
        value: Law = both[:, 1] / both.sum(1)
        return value

    log = LogLaw(("W", "Z", "X", "Y"), law)
    graph = "W -> Z -> X -> Y; W <-> X; W <-> Y"
    truth = formula([law], z=0)
    # The formula holds at either level of Z; the oracle reads the better one.
    both = [
        WidthWorld(graph, "Y | do(X)", log, point(partial(formula, z=z)), truth) for z in (0, 1)
    ]
    return min(both, key=lambda world: world.oracle(1_000, 0.95))


TYPES = tuple(product(product((0, 1), repeat=2), repeat=2))
"""How arm answers to the instrument, and reward to the arm."""


def spread_types(types: Law) -> Law:
    """``P(x, y | z)`` by response types, axes z, x, y; types on the last axis."""
    law = np.zeros((*types.shape[:-1], 2, 2, 2))
    for i, (arm, reward) in enumerate(TYPES):
        for z in (0, 1):
            law[..., z, arm[z], reward[arm[z]]] += types[..., i]
    return law


@cache
def solve_program(shares: bytes, arm: int, *, upper: bool) -> Law:
    """The multipliers of the least or greatest effect that agrees with ``P(x, y | z)``."""
    p = np.frombuffer(shares)
    cost = np.array([float(reward[arm]) for _, reward in TYPES])
    matrix = np.stack([spread_types(one).ravel() for one in np.eye(len(TYPES))], axis=1)
    found = linprog(-cost if upper else cost, A_eq=matrix, b_eq=p, method="highs")
    multipliers: Law = found.eqlin.marginals
    return -multipliers if upper else multipliers


def instrument_ends(law: Law) -> tuple[Law, Law]:
    """Both ends of both arms from ``P(x, y | z)``; the multipliers carry the derivative."""
    flat = law.ravel()
    shares = np.ascontiguousarray(flat.real).tobytes()
    ends = [
        np.stack([solve_program(shares, arm, upper=upper) @ flat for arm in (0, 1)])
        for upper in (False, True)
    ]
    return ends[0], ends[1]


def draw_types(kind: str, rng: Generator) -> Law:
    """A law of response types."""
    alpha = {"Dirichlet(1)": 1.0, "Dirichlet(.3)": 0.3}.get(kind)
    if alpha is not None:
        return rng.dirichlet(np.full(len(TYPES), alpha))
    often: dict[tuple[int, ...], float] = {(0, 1): 6.0, (1, 0): 0.3}
    weight = np.array([often.get(arm, 1.5) for arm, _ in TYPES])
    return rng.dirichlet(weight)


def make_instrument(kind: str, seed: int) -> WidthWorld:
    """An instrument, an arm and a reward of two levels each."""
    rng = np.random.default_rng([seed, 16, len(kind)])
    types = draw_types(kind, rng)
    law = np.array([0.4, 0.6])[:, None, None] * spread_types(types)

    def ends(laws: Sequence[Law]) -> tuple[Law, Law]:
        return instrument_ends(laws[0] / laws[0].sum((1, 2), keepdims=True))

    truth = np.array([sum(types[i] * TYPES[i][1][arm] for i in range(16)) for arm in (0, 1)])
    log = LogLaw(("Z", "X", "Y"), law)
    return WidthWorld("Z -> X -> Y; X <-> Y", "Y | do(X)", log, ends, truth)


def make_instrument_in_strata(seed: int) -> WidthWorld:
    """An instrument within ten strata of a covariate of everything."""
    rng = np.random.default_rng([seed, 160])
    share = draw_shares((10,), rng, floor=0.05)
    kinds = ("few defiers", "Dirichlet(1)") * 5
    types = np.stack([draw_types(kind, rng) for kind in kinds])
    wz = add_event(share, rng.uniform(0.3, 0.7, 10))
    law = wz[..., None, None] * spread_types(types)

    def ends(laws: Sequence[Law]) -> tuple[Law, Law]:
        p = laws[0]
        given = p / p.sum((2, 3), keepdims=True)
        pairs = [instrument_ends(one) for one in given]
        weights = p.sum((1, 2, 3))[:, None]
        lower, upper = (np.stack(side) for side in zip(*pairs, strict=True))
        return (weights * lower).sum(0), (weights * upper).sum(0)

    mixed = share @ types
    truth = np.array([sum(mixed[i] * TYPES[i][1][arm] for i in range(16)) for arm in (0, 1)])
    log = LogLaw(("W", "Z", "X", "Y"), law)
    graph = "W -> Z -> X -> Y; X <-> Y; W -> X; W -> Y"
    return WidthWorld(graph, "Y | do(X)", log, ends, truth)


def make_bow(seed: int) -> WidthWorld:
    """Natural bounds: a hidden cause of arm and reward, and nothing else."""
    rng = np.random.default_rng([seed, 4])
    types = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)  # arm, reward of either arm
    law = np.zeros((2, 2))
    for x, y0, y1 in product((0, 1), repeat=3):
        law[x, (y0, y1)[x]] += types[x, y0, y1]

    def ends(laws: Sequence[Law]) -> tuple[Law, Law]:
        return laws[0][:, 1], 1 - laws[0][:, 0]

    truth = np.array([types[:, 1].sum(), types[:, :, 1].sum()])
    log = LogLaw(("X", "Y"), law)
    return WidthWorld("X -> Y; X <-> Y", "Y | do(X)", log, ends, truth)


def make_paper(_: int) -> WidthWorld:
    """The paper's world: conditioning on the mediator by which rows were selected."""
    world = bd.simulation.paper_environment()
    names = ("U1", "U2", "X1", "I1", "X2", "Y")
    log = LogLaw(names, world.model.log().align(names))

    def ends(laws: Sequence[Law]) -> tuple[Law, Law]:
        # Means by U1, X1, I1, X2; rows are by X1, X2, U1, U2.
        cells = np.moveaxis(means(laws[0].sum(1)), 0, -1)
        sides = least(cells, 1), greatest(cells, 1)
        lower, upper = (np.repeat(side[..., None], 2, axis=-1) for side in sides)
        return lower, upper

    truth = np.empty((2, 2, 2, 2))
    for x1, x2, u1, u2 in product((0, 1), repeat=4):
        truth[x1, x2, u1, u2] = world.mean((x1, x2), (u1, u2))
    return WidthWorld(str(world.graph), "Y | do(X1, X2), U1, U2", log, ends, truth, distinct=8)


REWARDS: dict[str, tuple[tuple[float, ...], Callable[[Generator, tuple[int, ...]], Law]]] = {
    "even": (
        tuple(np.linspace(0, 1, 11)),
        lambda rng, shape: draw_shares((*shape, 11), rng),
    ),
    "narrow": (
        tuple(np.linspace(0, 1, 11)),
        lambda rng, shape: 0.001 + 0.989 * np.eye(11)[rng.integers(3, 7, shape)],
    ),
    "mostly 0": (
        (0.0, 0.1, 0.5, 1.0),
        lambda rng, shape: np.concatenate(
            [np.full((*shape, 1), 0.95), 0.05 * draw_shares((*shape, 3), rng)], axis=-1
        ),
    ),
    "0 or 5": (
        (0.0, 5.0),
        lambda rng, shape: add_event(np.ones(shape), draw_chances(shape, rng)),
    ),
}
"""What rewards can be, and a law of them in every cell."""


def make_numeric(kind: str, seed: int) -> WidthWorld:
    """A back door of eight strata with a reward that is a number."""
    rng = np.random.default_rng([seed, 88, len(kind)])
    pays, draw = REWARDS[kind]
    share = draw_shares((8,), rng, floor=0.25 / 8)
    before = add_event(share, make_propensity((8,), "mild", rng))
    law = before[..., None] * draw(rng, (8, 2))

    def formula(laws: Sequence[Law]) -> Law:
        p = laws[0]
        value: Law = (p.sum((1, 2))[:, None] * means(p, pays)).sum(0)
        return value

    return WidthWorld(
        "Z -> X; Z -> Y; X -> Y",
        "Y | do(X)",
        LogLaw(("Z", "X", "Y"), law / law.sum()),
        point(formula),
        formula([law / law.sum()]),
        pays=pays,
        options={"outcome_range": (pays[0], pays[-1])},
        aipw=True,
    )


def _spell_edges(text: str) -> str:
    """Write ``A -> B, C`` as ``A -> B; A -> C``."""
    edges = [part.split(" -> ") for part in text.split("; ")]
    return "; ".join(f"{a} -> {b}" for a, many in edges for b in many.split(", "))

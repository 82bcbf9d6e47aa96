"""Ridge regressions of LinUCB and LinTS: expected rewards, how uncertain they are, learning.

Layout, for regressions and p columns (features padded with zeros to a multiple of eight):
``models[m]`` is (p + 3) x p: the inverse of A = ridge I + sum x x', then the estimate theta =
inverse(A) sum reward x, then (rows learned, 0, ...), then p numbers to work with. Sums run
over rows in their order, in eight columns at once, so that one decision and a whole run give
the same bits.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, final

import numpy as np

from boundit.bandit.compiled import step
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption
from boundit.bandit.features import FeatureEncoding, FeaturePolicy, Features
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.options import CommonOptions
from boundit.bandit.spec import Spec
from boundit.bandit.states import read_array, write_array
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

LANES = 8
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(i) for i in range(1, 8))
"""Places without a sign: one that may be negative counts from the end, and a processor then
reads one at a time."""
_MOST_NUMBERS = 2**19
"""How many numbers of features are kept."""


@step
def multiply_rows(
    out: Floats, matrix: Floats, x: Floats, start: int, twice: int, stop: int
) -> None:
    """Write the sum of ``x[i] matrix[i, start:start + 8]`` over i < stop into the same places.

    Rows before ``twice`` count twice, as half of a symmetric matrix is enough.
    """
    j = np.uint64(start)
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(twice):
        w = x[i]
        s0 += w * matrix[i, j]
        s1 += w * matrix[i, j + _1]
        s2 += w * matrix[i, j + _2]
        s3 += w * matrix[i, j + _3]
        s4 += w * matrix[i, j + _4]
        s5 += w * matrix[i, j + _5]
        s6 += w * matrix[i, j + _6]
        s7 += w * matrix[i, j + _7]
    s0, s1, s2, s3 = s0 + s0, s1 + s1, s2 + s2, s3 + s3
    s4, s5, s6, s7 = s4 + s4, s5 + s5, s6 + s6, s7 + s7
    for i in range(twice, stop):
        w = x[i]
        s0 += w * matrix[i, j]
        s1 += w * matrix[i, j + _1]
        s2 += w * matrix[i, j + _2]
        s3 += w * matrix[i, j + _3]
        s4 += w * matrix[i, j + _4]
        s5 += w * matrix[i, j + _5]
        s6 += w * matrix[i, j + _6]
        s7 += w * matrix[i, j + _7]
    out[j], out[j + _1], out[j + _2], out[j + _3] = s0, s1, s2, s3
    out[j + _4], out[j + _5], out[j + _6], out[j + _7] = s4, s5, s6, s7


@step
def dot(one: Floats, two: Floats) -> float:
    """Compute the product of two padded rows, in four sums."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for start in range(0, one.size, 4):
        j = np.uint64(start)
        s0 += one[j] * two[j]
        s1 += one[j + _1] * two[j + _1]
        s2 += one[j + _2] * two[j + _2]
        s3 += one[j + _3] * two[j + _3]
    return (s0 + s1) + (s2 + s3)


@step
def predict(model: Floats, x: Floats) -> float:
    """Compute what a row is expected to earn, ``theta' x``."""
    return dot(model[x.size], x)


@step
def find_spread(model: Floats, x: Floats, d: int, scratch: Floats) -> float:
    """Compute how uncertain that is: ``sqrt(x' inverse(A) x)``."""
    for j in range(0, x.size, LANES):
        multiply_rows(scratch, model, x, j, j, min(j + LANES, d))
    return math.sqrt(max(dot(scratch, x), 0.0))


@step
def update(model: Floats, x: Floats, d: int, reward: float, scratch: Floats) -> None:
    """Update inverse and estimate by one row (Sherman and Morrison 1950).

    Off by 2e-11 after a million rows.
    """
    p = x.size
    for j in range(0, p, LANES):
        multiply_rows(scratch, model, x, j, 0, d)
    share = 1.0 / (1.0 + dot(scratch, x))
    surprise = (reward - predict(model, x)) * share
    for i in range(d):
        model[p, i] += scratch[i] * surprise
    for i in range(d):
        for j in range(p):
            model[i, j] -= scratch[i] * scratch[j] * share
    model[p + 1, 0] += 1.0


@step
def learn_row(models: Floats, m: int, x: Floats, k: int, d: int, reward: float) -> None:
    """Learn the k-th row of ``x`` and its reward (Algorithm 4 of the paper, LinUCB, line 14)."""
    update(models[m], x[k], d, reward, models[m, x.shape[1] + 2])


def pad(rows: Floats) -> Floats:
    """Pad rows with zeros to a multiple of eight numbers."""
    wide = np.zeros((*rows.shape[:-1], -(-rows.shape[-1] // LANES) * LANES))
    wide[..., : rows.shape[-1]] = rows
    return wide


@final
@dataclass(frozen=True)
class WarmStart:
    """Estimates of each arm in each context, and how many rewards each is worth.

    Parameters
    ----------
    estimates : BoundTable
        A table of points, such as the paper's CP and Biased; cells without a point are left out.
    rows : float or "counts"
        The number of rewards that a cell is worth, or the number of rows the log has in it.
    """

    estimates: BoundTable
    rows: float | Literal["counts"]

    def __post_init__(self) -> None:
        if not isinstance(self.estimates, BoundTable):
            raise BadOption("estimates", "a BoundTable of points", self.estimates)
        number = isinstance(self.rows, int | float) and not isinstance(self.rows, bool)
        if self.rows != "counts" and not (number and 0 < float(self.rows) < math.inf):
            raise BadOption("rows", "a number above 0, or 'counts'", self.rows)

    def list_rows(
        self, spec: Spec, encoding: FeatureEncoding
    ) -> Iterator[tuple[Arm, Floats, float, float]]:
        """List the estimates as rows: arm, features, weight and the reward, turned."""
        for (arm, context), bound in self.estimates.bounds.items():
            if bound.lower_estimate == bound.upper_estimate:
                weight = bound.n if self.rows == "counts" else float(self.rows)
                x = encoding.encode(context, arm)
                yield arm, x, weight, spec.orient(bound.lower_estimate)


class ContextFeatures:
    """The features of all arms in one context, arms x p, and LinUCB's index and its version."""

    __slots__ = ("cache", "x")

    def __init__(self, x: Floats) -> None:
        self.x, self.cache = x, np.full((len(x), 2), -1.0)


class LinearPolicy(FeaturePolicy):
    """What LinUCB and LinTS share: features, and a regression for each arm or one for all."""

    sees_numbers = True

    def __init__(
        self, prior: BoundTable | None, own: Mapping[str, Any], common: CommonOptions
    ) -> None:
        if not isinstance(own["warm_start"], WarmStart | None):
            raise BadOption("warm_start", "a WarmStart", own["warm_start"])
        self.shared = bool(own.get("shared"))
        super().__init__(prior, own, common)

    @property
    def axes(self) -> Mapping[str, str]:  # type: ignore[override]
        """A regression for each arm, or one."""
        return {"models": "" if self.shared else "a"}

    def rebuild(self) -> None:
        """Forget features: arms may have come."""
        self._features: dict[Context, ContextFeatures] = {}

    def make_models(self) -> Floats:
        """Make regressions that have learned nothing but a warm start."""
        self.encoding = FeatureEncoding.of(self.spec, self.options["features"])
        self.d = d = self.d or self.encoding.size
        n, p = 1 if self.shared else len(self._arms), -(-d // LANES) * LANES
        models, ridge = np.zeros((n, p + 3, p)), self.options["ridge"]
        models[:, range(d), range(d)] = 1.0 / ridge
        warm: WarmStart | None = self.options["warm_start"]
        if warm is not None and d:
            gram, response = np.zeros((n, d, d)), np.zeros((n, d))
            gram[:] = ridge * np.eye(d)
            for arm, x, weight, reward in warm.list_rows(self.spec, self.encoding):
                if arm in self._columns:
                    self.require_size(x.size, arm)
                    m = 0 if self.shared else self._columns[arm]
                    gram[m] += weight * np.outer(x, x)
                    response[m] += weight * reward * x
            self.solve(models, gram, response)
        return models

    def solve(self, models: Floats, gram: Floats, response: Floats) -> None:
        """Write inverses and estimates from A and b, the sums over rows."""
        d, p = self.d, models.shape[2]
        models[:, :d, :d] = np.linalg.inv(gram)
        models[:, p, :d] = np.einsum("mij,mj->mi", models[:, :d, :d], response)

    def list_sums(self) -> tuple[Floats, Floats, Floats]:
        """Give A, b and the number of rows of each regression: these add up."""
        models, d = self.arrays.models, self.d
        p, gram = models.shape[2], np.linalg.inv(models[:, :d, :d])
        return gram, np.einsum("mij,mj->mi", gram, models[:, p, :d]), models[:, p + 1, 0]

    def merge_rest(self, one: Self, other: Self, shared: Self) -> None:
        """Add up the sums of two policies, and count those that they shared once."""
        if not self.d:
            return
        start = self.list_sums()
        total = [part.copy() for part in start]
        for part, sign in ((one, 1.0), (other, 1.0), (shared, -1.0)):
            at = [0] if self.shared else [self._columns[arm] for arm in part._arms]
            for mine, theirs, base in zip(total, part.list_sums(), start, strict=True):
                mine[at] += sign * (theirs - base[at])
        self.solve(self.arrays.models, *total[:2])
        self.arrays.models[:, -2, 0] = total[2]

    def find_features(self, context: Context, columns: Ints) -> ContextFeatures:
        """Find the features of arms in a context; a user's function is asked each time."""
        found = self._features.get(context)
        if found is not None:
            return found
        own = self.options["features"] is not None
        used = [self._arms[k] for k in columns] if own else self._arms
        rows = self.encoding.encode_all(context, used)
        for arm, row in zip(used, rows, strict=True):
            self.require_size(row.size, arm)
        x = pad(np.array(rows))
        if own:
            wide = np.zeros((len(self._arms), x.shape[1]))
            wide[columns] = x
            return ContextFeatures(wide)
        if len(self._features) * max(x.size, 64) >= _MOST_NUMBERS:
            self._features.clear()
        self._features[context] = found = ContextFeatures(x)
        return found

    def read_observed(
        self, observed: Mapping[str, object] | None, decision: Decision | None = None
    ) -> Any:
        """Find the features of a decision, or refuse those that cannot be learned."""
        if decision is None:
            return None
        context, arm = decision.context_values, decision.arm_values
        found = self._features.get(context)
        if found is None or arm not in self._columns:
            x = self.encoding.encode(self._read_context(context), arm)
            if self.d and x.size != self.d:
                self.require_size(x.size, arm)
            return None
        return found

    def take(self, context: Context, row: int, column: int, reward: float, shown: Any) -> None:
        """Learn the arm's features and its reward."""
        if shown is None or len(shown.x) <= column:
            shown = self.find_features(context, np.array([column]))
        m, a = 0 if self.shared else column, self.arrays
        learn_row(a.models, m, shown.x, column, self.d, reward)

    def _find_row(self, context: Context) -> int:
        # Contexts may be numbers: nothing is kept by context but bounds.
        return self._rows.get(self.spec.find_cell(context), 0)

    def record_options(self) -> dict[str, Any]:
        """Write the options; of a user's function only that there was one."""
        warm: WarmStart | None = self.options["warm_start"]
        record = warm and {"estimates": warm.estimates.record(), "rows": warm.rows}
        return {**super().record_options(), "warm_start": record}

    @classmethod
    def read_options(
        cls, record: Mapping[str, Any], functions: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Read what ``record_options`` wrote; a user's function is given again."""
        found, warm = super().read_options(record, functions), record["warm_start"]
        made = warm and WarmStart(BoundTable.from_record(warm["estimates"]), warm["rows"])
        return {**found, "warm_start": made}

    def record_arrays(self, places: Mapping[str, slice]) -> dict[str, Any]:
        """Write the regressions, without padding."""
        models, d = self.arrays.models, self.d
        return {
            "d": d,
            "inverse": write_array(models[:, :d, :d]),
            "estimate": write_array(models[:, -3, :d]),
            "rows": models[:, -2, :1].tolist(),
        }

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        """Read regressions, whose number of features the policy may not know yet."""
        d = int(record["d"])
        self.match_size(d)
        if d != self.d:
            raise ValueError(f"it has {d} features, and its arms and contexts make {self.d}")
        at = np.zeros(1, np.int64) if self.shared else columns
        models = self.arrays.models
        models[at, :d, :d] = read_array(record["inverse"], (at.size, d, d))
        models[at, -3, :d] = read_array(record["estimate"], (at.size, d))
        models[at, -2, :1] = read_array(record["rows"], (at.size, 1)) if d else 0.0

    def _follow(self, spec: Spec, prior: BoundTable) -> None:
        """Go on with more levels, as if rows had had their features from the start, all 0."""
        wider = FeatureEncoding.of(spec, self.options["features"])
        if wider != self.encoding and self.d and self.options["features"] is None:
            turn, (gram, response, n) = self.encoding.map_into(wider, self.d), self.list_sums()
            ridge, rest = self.options["ridge"], gram - self.options["ridge"] * np.eye(self.d)
            self.spec, self.d = spec, len(turn)
            self.arrays = self.make_arrays()
            gram = ridge * np.eye(self.d) + turn @ rest @ turn.T
            self.solve(self.arrays.models, gram, response @ turn.T)
            self.arrays.models[:, -2, 0] = n
        super()._follow(spec, prior)

    def carry(self, old: Any) -> None:
        """Take over what was learned, once the number of features was known."""
        if old.models.shape[2]:
            super().carry(old)

    def lay_out_features(self, contexts: Sequence[Context]) -> Floats:
        """Give the features of all arms in all contexts, contexts x arms x p."""
        every = np.arange(len(self._arms))
        return np.array([self.find_features(context, every).x for context in contexts])


__all__ = ["Features", "LinearPolicy", "WarmStart"]

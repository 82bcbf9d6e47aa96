"""The linear form of the fused policy: ridge models in the place of counts of cells."""

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.bins import find_bin
from boundit.bandit.errors import ForeignBounds
from boundit.bandit.fused.arrays import FusedCounts, FusedLayout
from boundit.bandit.fused.layout import lay_out_plan
from boundit.bandit.fused.linear_kernels import learn_linear, write_cells
from boundit.bandit.fused.linear_layout import lay_out_models
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import FusedPlan

MANY_LEVELS = 8
"""A context variable with more numbers than these is taken for a numeric one."""


def is_numeric(prior: BoundTable | None) -> bool:
    """Tell whether a context variable of a table has bins, or more than eight numbers.

    Where numbers and text are mixed in a variable, it cannot be written as features.
    """
    if prior is None:
        return False
    wanted = False
    for name in prior.context:
        levels = prior.levels[name]
        numbers = [level for level in levels if isinstance(level, int | float)]
        texts = [level for level in levels if isinstance(level, str)]
        if len(levels) not in (len(numbers), len(texts)):
            return False
        wanted = wanted or bool(prior.bins.get(name)) or len(numbers) > MANY_LEVELS
    return wanted


def make_encoding(spec: BanditSpec) -> FeatureEncoding:
    """Make the encoding of contexts as features, arms left out."""
    return FeatureEncoding(FeatureEncoding.of(spec, sees_numbers=True).context, ())


@final
class LinearCells:
    """Ridge models of a plan's cells, for every arm and leaf, and what rounds taught them.

    Features are brought to mean 0 and deviation 1 over the contexts of the plan. ``moments``
    are ``A`` and ``b`` of rounds that showed all and of guesses, by arm and leaf, so that they
    can be put together for another plan. ``by_log`` has the Beta laws of cells by rows of the
    log alone, in the form that kernels read, ``shown`` those for the visitor who came last.
    """

    def __init__(
        self,
        plan: FusedPlan,
        encoding: FeatureEncoding,
        taus: Sequence[float],
        prior: Sequence[float],
    ) -> None:
        self.plan, self.encoding, self.taus = plan, encoding, taus
        rows = np.array([self._encode_raw(context) for _, context in plan.pairs])
        rows = rows.reshape(len(plan.pairs), -1)
        scale = rows.std(axis=0)
        self.center = rows.mean(axis=0)
        self.scale = np.where(scale > 0.0, scale, 1.0)
        self.center[:1], self.scale[:1] = 0.0, 1.0
        owners = [-1, *(k for k, part in enumerate(encoding.context) for _ in range(part.size))]
        self.features = (rows - self.center) / self.scale
        self.layout = lay_out_models(plan, self.features, owners, taus)
        n_arms, d = int(self.layout.arms.max(initial=-1)) + 1, rows.shape[1]
        self.moments = np.zeros((2, n_arms, plan.n_leaves, d, d + 1))
        self.by_log = self._lay_out_shown(prior)
        self.shown = self.by_log._replace(
            wins=self.by_log.wins.copy(), losses=self.by_log.losses.copy()
        )
        self._no_cells = np.zeros((self.shown.wins.shape[1], 4))

    def _encode_raw(self, context: Context) -> list[float]:
        """Write the features of a context as the encoding has them, a constant first."""
        return [1.0, *self.encoding.encode_context(context, ())]

    def encode(self, context: Context) -> Floats:
        """Write the features of a visitor's context."""
        found: Floats = (np.array(self._encode_raw(context)) - self.center) / self.scale
        return found

    def find_cell(self, context: Context) -> Context:
        """Find the context of the plan that a visitor is in: numbers become their bins."""
        variables = self.encoding.context
        return tuple(
            find_bin(part.edges, v) for part, v in zip(variables, context, strict=True)
        )

    def _lay_out_shown(self, prior: Sequence[float]) -> FusedLayout:
        """Lay out a plan with a cell for every cell in a model; rows of the log give its law."""
        plan, models = self.plan, self.layout.models
        cells = np.array(plan.cells, np.int64).reshape(models.shape)
        both = np.stack([models.ravel(), cells.ravel()], axis=1)
        found, places = np.unique(both, axis=0, return_inverse=True)
        own = replace(
            plan,
            cells=tuple(tuple(row.tolist()) for row in places.reshape(models.shape)),
            n=tuple(plan.n[cell] for cell in found[:, 1].tolist()),
            sums=tuple(plan.sums[cell] for cell in found[:, 1].tolist()),
        )
        shown = lay_out_plan(own, self.taus, prior)
        for pair in range(len(models)):
            at = np.array([pair], np.float64)
            write_cells(shown, self.layout, self.moments, at, self.features[pair])
        return shown

    def hide_cells(self, counts: FusedCounts) -> FusedCounts:
        """Give the counts without those of cells, for which models stand."""
        return counts._replace(cells=self._no_cells)

    def show(self, context: Context, pairs: Floats) -> FusedLayout:
        """Give the plan with the cells of some pairs as a visitor has them."""
        write_cells(self.shown, self.layout, self.moments, pairs, self.encode(context))
        return self.shown

    def learn(
        self,
        layout: FusedLayout,
        counts: FusedCounts,
        x: Floats,
        pair: int,
        reward: float,
        leaf: int,
        may_be: NDArray[np.bool_],
        predicted: tuple[float, float],
        scratch: Floats,
    ) -> None:
        """Learn a round of a pair by place and features, as ``learn_round`` does with counts."""
        at = np.array([pair], np.float64)
        write_cells(self.shown, self.layout, self.moments, at, x)
        learn_linear(
            layout,
            counts,
            self.shown,
            self.hide_cells(counts),
            self.layout,
            self.moments,
            pair,
            reward,
            leaf,
            may_be,
            predicted,
            x,
            scratch,
        )

    def weigh_taus(self) -> Floats:
        """Give the log of how likely all rewards that rounds showed are under each tau.

        Up to a constant: the same as their product, one after the other.
        """
        layout, found = self.layout, np.zeros(len(self.taus))
        seen = self.moments[0].reshape(-1, *self.moments.shape[3:])
        for model, mask in enumerate(layout.masks):
            members = layout.members[layout.starts[model] : layout.starts[model + 1]]
            more = seen[members].sum(axis=0) * mask[:, None]
            for tau in range(len(self.taus)):
                gram, total = layout.grams[tau, model], layout.sums[tau, model]
                found[tau] += _weigh_model(gram, total)
                found[tau] -= _weigh_model(gram + more[:, :-1] * mask, total + more[:, -1])
        return found

    def take_over(self, old: "LinearCells", moved: Sequence[tuple[int, int]]) -> bool:
        """Take over what models of another plan learned, for arms that both have.

        Gives whether its features can be turned into those of these models.

        ``moved`` has the leaves of both, old and new.
        """
        try:
            turn = self._make_turn(old)
        except ForeignBounds:
            return False
        places = {arm: i for i, arm in enumerate(old.plan.arms)}
        for i, arm in enumerate(self.plan.arms):
            for before, after in moved if arm in places else ():
                part = old.moments[:, places[arm], before]
                self.moments[:, i, after, :, :-1] = turn @ part[:, :, :-1] @ turn.T
                self.moments[:, i, after, :, -1] = part[:, :, -1] @ turn.T
        return True

    def _make_turn(self, old: "LinearCells") -> Floats:
        """Make the matrix that turns features of older models into those of these."""
        back = np.diag(old.scale)
        back[:, 0] += old.center
        forth = np.diag(1.0 / self.scale)
        forth[:, 0] -= self.center / self.scale
        found: Floats = forth @ old.encoding.map_into(self.encoding, len(back)) @ back
        return found

    def count_leaves(self, leaves: Floats) -> None:
        """Learn anew from counts by pair and leaf, each at the features of its context."""
        for pair, x in enumerate(self.features):
            outer = np.outer(x, x)
            for kind in range(2):
                won, lost = leaves[pair, :, 2 * kind], leaves[pair, :, 2 * kind + 1]
                found = self.moments[kind, self.layout.arms[pair]]
                found[:, :, :-1] += (won + lost)[:, None, None] * outer
                found[:, :, -1] += 0.5 * (won - lost)[:, None] * x


def _weigh_model(gram: Floats, total: Floats) -> float:
    """Give the part of a model's log chance that comes from one end of what it learned."""
    fitted = float(total @ np.linalg.solve(gram, total))
    return 0.5 * float(np.linalg.slogdet(gram)[1]) - 2.0 * fitted

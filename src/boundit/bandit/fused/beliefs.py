"""What a fused policy has learned: rounds in the cells of its plan, guesses, and evidence.

What was seen is kept by pair and leaf too, so that it can be counted anew in the cells and
pools of another plan, or together with what another policy has seen.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp

from boundit.bandit.decision import Decision
from boundit.bandit.fused.arrays import (
    BIAS_EVIDENCE,
    GUESSED,
    GUESSED_WINS,
    LOSSES,
    N_LEARNED,
    N_SEEN,
    OWN_EVIDENCE,
    SEEN,
    SEEN_LOSSES,
    SEEN_WINS,
    WEIGHT,
    WINS,
    FusedCounts,
    FusedLayout,
    make_counts,
)
from boundit.bandit.fused.layout import PRIOR, TAUS, lay_out_plan
from boundit.bandit.fused.learn import learn_particles, learn_round, weigh_particles
from boundit.bandit.fused.linear import LinearCells, make_encoding
from boundit.bandit.fused.observation import LeafReader
from boundit.bandit.fused.particles import ParticleCounts, Particles, make_no_particles
from boundit.bandit.fused.refutation import LogEvidence
from boundit.bandit.fused.runs import is_blind, learn_blind_rounds
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.many.rewards import RewardBatch
from boundit.bandit.many.rows import name_row
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.serialization import Record, decode_values, encode_values
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.errors import BounditError
from boundit.terms.fused_plan import FusedPlan

if TYPE_CHECKING:
    from boundit.bandit.fused.particles import ParticleLaws

NO_PLAN = FusedPlan((), (), (), (), ())
"""The plan of a policy that has none: every pair learns by itself."""


@final
class FusedBeliefs:
    """Counts of a plan's cells and pools, and of pairs it does not know.

    ``trusting`` takes the log for unbiased. With an ``encoding`` of contexts, models stand for
    cells (``linear``). ``laws`` and ``learned`` are empty until a round shows too little.
    """

    def __init__(
        self,
        plan: FusedPlan,
        reward_range: tuple[float, float],
        *,
        trusting: bool,
        encoding: FeatureEncoding | None = None,
    ) -> None:
        self.plan, self.reward_range, self.trusting = plan, reward_range, trusting
        self.taus: tuple[float, ...] = (0.0,) if trusting else TAUS
        prior: tuple[float, ...] = (1.0,) if trusting else PRIOR
        self.layout = lay_out_plan(plan, self.taus, prior)
        self.encoding = encoding
        self.linear = LinearCells(plan, encoding, self.taus, prior) if encoding else None
        self.reader = LeafReader(plan)
        self.places: dict[Key, int] = {pair: i for i, pair in enumerate(plan.pairs)}
        self.counts = make_counts(self.layout, len(self.places) + 1)
        self.laws: ParticleLaws
        self.learned: ParticleCounts
        self.laws, self.learned = make_no_particles()
        self.evidence = LogEvidence(plan)
        self._scratch = np.empty((6, self.layout.starts.size + plan.n_leaves))
        self._score_tables: dict[Context, tuple[RankedArms, int, Floats]] = {}
        self._indices: dict[Context, tuple[RankedArms, Floats]] = {}

    @property
    def is_blind(self) -> bool:
        """Whether so few rounds showed the plan's variables that particles decide."""
        return self.has_particles and bool(is_blind(self.counts.totals))

    @property
    def has_particles(self) -> bool:
        """Whether some round showed too little, so that particles stand for the weights."""
        return self.learned.taus.size > 0

    @cached_property
    def particles(self) -> Particles:
        """The particles of the plan, made when they are first needed."""
        layout = self.linear.by_log if self.linear else self.layout
        return Particles.of(self.plan, layout, self.taus)

    def spread_particles(self) -> None:
        """Let particles stand for the weights, weighed by all rewards so far."""
        self._indices.clear()
        self.laws, self.learned = self.particles.laws, self.particles.make_counts()
        weigh_particles(self.laws, self.learned, self.counts.pairs, self.layout.log_prior)

    def find_cell(self, context: Context) -> Context:
        """Find the context of the plan that a visitor is in, who may bring numbers to models."""
        return self.linear.find_cell(context) if self.linear else context

    def make_score_table(self, context: Context, ranked_arms: RankedArms) -> Floats:
        """Make the score table of a context's arms, each with the place of its pair."""
        context = self.find_cell(context)
        known = self._score_tables.get(context)
        if known and known[0] is ranked_arms and known[1] == len(self.places):
            return known[2]
        score_table = ranked_arms.blank_table.copy()
        score_table[:, STATISTICS] = [
            self.places.get((ranked.arm, context), -1) for ranked in ranked_arms
        ]
        # Contexts of which nothing is known may be new with every visitor.
        if (score_table[:, STATISTICS] >= 0).any():
            self._score_tables[context] = ranked_arms, len(self.places), score_table
        return score_table

    def find_indices(self, context: Context, ranked_arms: RankedArms) -> Floats | None:
        """Find the indices of a context's arms, None if they are not known since it learned."""
        known = self._indices.get(context)
        return known[1] if known and known[0] is ranked_arms else None

    def keep_indices(self, context: Context, ranked_arms: RankedArms, indices: Floats) -> None:
        """Keep the indices of a context's arms until something is learned.

        Only of contexts whose score table is kept too: there are few of those, and numbers that
        models take are no context of the plan.
        """
        if self.linear is None and context in self._score_tables:
            self._indices[context] = ranked_arms, indices

    def show(self, context: Context, pairs: Floats) -> tuple[FusedLayout, FusedCounts]:
        """Give plan and counts as a decision on some pairs for a visitor reads them."""
        if self.linear is None:
            return self.layout, self.counts
        return self.linear.show(context, pairs), self.linear.hide_cells(self.counts)

    def take(
        self,
        decision: Decision,
        reward: float,
        observed: Mapping[str, object] | None = None,
    ) -> None:
        """Learn the reward of a decision, and what else its round showed."""
        leaf, may_be = self.reader.read(observed)
        low, high = self.reward_range
        pair = self.find_place((decision.arm, self.find_cell(decision.context)))
        x = self._find_row(decision.context, pair)
        self._learn(x, pair, (reward - low) / (high - low), leaf, may_be)

    def _find_row(self, context: Context, pair: int) -> Floats | None:
        """Find the features of a visitor of a pair; None where counts stand for cells."""
        if self.linear is None or pair >= len(self.plan.pairs):
            return None
        return self.linear.encode(context)

    def take_many(self, batch: RewardBatch) -> None:
        """Learn several rewards in their order, and what else their rounds showed.

        All that was shown is read before the first is learned.
        """
        shown, nothing = list[tuple[int, NDArray[np.bool_]]](), self.reader.read(None)
        for row, observed in zip(batch.rows, batch.observed, strict=True):
            try:
                shown.append(nothing if observed is None else self.reader.read(observed))
            except BounditError as error:
                raise name_row(error, row) from None
        low, high = self.reward_range
        pairs = [
            self.find_place((kind.arm, self.find_cell(kind.context))) for kind in batch.kinds
        ]
        rows = [
            self._find_row(kind.context, pair)
            for kind, pair in zip(batch.kinds, pairs, strict=True)
        ]
        rewards = (batch.rewards - low) / (high - low)
        self._indices.clear()
        if self.linear is None and self.has_particles and all(leaf < 0 for leaf, _ in shown):
            learn_blind_rounds(
                self.layout,
                self.counts,
                self.laws,
                self.learned,
                np.array(pairs, np.int64)[batch.places],
                rewards,
                np.array([may_be for _, may_be in shown]),
                self._scratch,
            )
            return
        for place, reward, (leaf, may_be) in zip(
            batch.places.tolist(), rewards.tolist(), shown, strict=True
        ):
            self._learn(rows[place], pairs[place], reward, leaf, may_be)

    def _learn(
        self,
        x: Floats | None,
        pair: int,
        reward: float,
        leaf: int,
        may_be: NDArray[np.bool_],
    ) -> None:
        """Learn a round of a pair by its place: particles first, if there are any.

        ``x`` are features of the visitor where models stand for cells.
        """
        self._indices.clear()
        known = pair < len(self.plan.pairs)
        predicted, blind = (-1.0, -1.0), self.is_blind
        if leaf < 0 and not self.has_particles:
            self.spread_particles()
        if self.has_particles and known:
            found = learn_particles(self.laws, self.learned, pair, reward)
            predicted = found if blind else predicted
        rest = pair, reward, leaf, may_be, predicted, self._scratch
        if self.linear and x is not None:
            self.linear.learn(self.layout, self.counts, x, *rest)
        else:
            learn_round(self.layout, self.counts, *rest)
        if leaf >= 0 and known:
            self.evidence.judge(self.counts, self.layout, pair, leaf)

    def find_place(self, pair: Key) -> int:
        """Find the place of a pair's rewards; one that was never met gets a place of its own."""
        place = self.places.get(pair)
        if place is None:
            place = self.places[pair] = len(self.places)
            if place == len(self.counts.pairs):
                more = np.zeros_like(self.counts.pairs)
                pairs = np.concatenate([self.counts.pairs, more])
                self.counts = self.counts._replace(pairs=pairs)
        return place

    def find_features(self, context: Context, arm: Arm) -> tuple[float, ...]:  # noqa: ARG002
        """Give no features, as cells need none; called by ``BasePolicy._explore_arms``."""
        return ()

    def settings(self) -> Record:
        """Give no options, as the policy has them; called by ``BasePolicy.state``."""
        return {}

    def fresh(self, spec: BanditSpec) -> "FusedBeliefs":
        """Make beliefs of the same plan that have learned nothing."""
        encoding = make_encoding(spec) if self.encoding else None
        return FusedBeliefs(
            self.plan, spec.reward_range, trusting=self.trusting, encoding=encoding
        )

    def widen(self, spec: BanditSpec) -> "FusedBeliefs":  # noqa: ARG002, pairs are pairs
        """Give the same beliefs, as new arms and levels have none of their own yet."""
        return self

    def join(self, other: "FusedBeliefs", shared: "FusedBeliefs") -> "FusedBeliefs":
        """Add up what two policies learned; what is in ``shared`` counts once.

        Evidence against the fused cells is made of the sum of what they predicted, held against
        all rewards of a pair at once; evidence against a pool is weighed anew, and that of
        shifts, which are not learned, adds up.
        """
        made = FusedBeliefs(
            self.plan, self.reward_range, trusting=self.trusting, encoding=self.encoding
        )
        if (shared.plan, shared.encoding) != (self.plan, self.encoding):
            shared = shared.refit(self.plan, self.reward_range, self.encoding)
        leaves, totals, shifts = made.counts.leaves, made.counts.totals, made.counts.shifts
        predicted = dict[Key, float]()
        for part, sign in ((self, 1.0), (other, 1.0), (shared, -1.0)):
            leaves += sign * part.counts.leaves
            totals += sign * part.counts.totals
            shifts += sign * part.counts.shifts
            if made.linear and part.linear:
                made.linear.moments += sign * part.linear.moments
            sums = part.sum_predicted()
            for pair, place in part.places.items():
                row = made.find_place(pair)
                made.counts.pairs[row, :2] += sign * part.counts.pairs[place, :2]
                predicted[pair] = predicted.get(pair, 0.0) + sign * float(sums[place])
        made._count_anew()
        plain, evidence = made._sum_plain(), made.counts.pairs
        for pair, total in predicted.items():
            row = made.places[pair]
            known = row < len(made.plan.pairs)
            evidence[row, BIAS_EVIDENCE] = plain[row] - total if known else 0.0
        evidence[: len(leaves), OWN_EVIDENCE] = made._weigh_pools()
        if self.has_particles or other.has_particles:
            made.spread_particles()
        return made

    def refit(
        self,
        plan: FusedPlan,
        reward_range: tuple[float, float],
        encoding: FeatureEncoding | None,
    ) -> "FusedBeliefs":
        """Count what was learned anew in the cells and pools of another plan.

        Rows of the log are those of the new plan alone. Rewards of pairs and the evidence
        against them stay; what rounds showed stays where the new plan asks for the same
        variables. Where it asks for others, rounds count as unseen, and where it asks for none,
        all of them count.
        """
        made = FusedBeliefs(plan, reward_range, trusting=self.trusting, encoding=encoding)
        for pair, place in self.places.items():
            row = made.find_place(pair)
            made.counts.pairs[row] = self.counts.pairs[place]
        for row, place in _match(
            (*plan.pairs, *plan.arms), (*self.plan.pairs, *self.plan.arms)
        ):
            made.counts.shifts[row] = self.counts.shifts[place]
        if plan.variables:
            self._move_seen(made)
        else:
            made.counts.leaves[:, 0, [SEEN_WINS, SEEN_LOSSES]] = made.counts.pairs[
                : len(plan.pairs), [WINS, LOSSES]
            ]
            self._move_models(made, [] if self.plan.variables else [(0, 0)])
        made.counts.totals[:] = self.counts.totals
        if self.plan.variables != plan.variables:
            n_learned = self.counts.totals[N_LEARNED]
            made.counts.totals[N_SEEN] = 0.0 if plan.variables else n_learned
            made.counts.pairs[:, OWN_EVIDENCE] = 0.0
        made._count_anew()
        if plan.variables and made.counts.totals[N_SEEN] < made.counts.totals[N_LEARNED]:
            made.spread_particles()
        return made

    def _move_seen(self, made: "FusedBeliefs") -> None:
        """Take over what rounds showed, where another plan asks for the same variables."""
        moved = [
            (self.reader.leaves[cells], leaf)
            for cells, leaf in made.reader.leaves.items()
            if cells in self.reader.leaves
        ]
        if self.plan.variables != made.plan.variables or not moved:
            return
        old, new = map(list, zip(*moved, strict=True))
        for pair, row in made.places.items():
            place = self.places.get(pair, len(self.plan.pairs))
            if place < len(self.plan.pairs) and row < len(made.plan.pairs):
                made.counts.leaves[row, new] = self.counts.leaves[place, old]
        self._move_models(made, moved)

    def _move_models(self, made: "FusedBeliefs", moved: Sequence[tuple[int, int]]) -> None:
        """Take over what models learned, or count it anew where there are no such models.

        ``moved`` has the leaves of both plans, old and new.
        """
        if made.linear is None:
            return
        taken = moved and self.linear and made.linear.take_over(self.linear, moved)
        if not taken:
            made.linear.count_leaves(made.counts.leaves)

    def _sum_plain(self) -> Floats:
        """Sum up the log chance of all rewards of each pair, by these rewards alone."""
        pairs = self.counts.pairs
        found: Floats = betaln(1.0 + pairs[:, WINS], 1.0 + pairs[:, LOSSES])
        return found

    def sum_predicted(self) -> Floats:
        """Sum up the log of all that cells and pools predicted of the rewards of each pair."""
        found: Floats = self._sum_plain() - self.counts.pairs[:, BIAS_EVIDENCE]
        return found

    def _weigh_pools(self) -> Floats:
        """Weigh for each pair whether its weights are its own, or those of others in a pool.

        All others of the pool are taken to come first, as workers that parted learned a pool
        each from the start.
        """
        counts, layout = self.counts, self.layout
        found = np.zeros((len(counts.taus), len(counts.own)))
        for node in range(layout.starts.size - 1):
            first, last = layout.starts[node : node + 2]
            own = counts.own[:, first:last]
            place = layout.pools[:, [node]] + np.arange(last - first)
            others = layout.weights[:, place] + (counts.pools[place, SEEN] - own)
            found += _log_dirichlet(others, np.broadcast_to(own, others.shape))
            found -= _log_dirichlet(np.ones_like(own), own)
        weighed: Floats = -logsumexp(found, axis=0, b=counts.taus[:, WEIGHT][:, None])
        return weighed

    def _count_anew(self) -> None:
        """Count cells, pools and own weights from what is kept by leaf, and weigh the taus."""
        counts, layout = self.counts, self.layout
        leaves, n_nodes = counts.leaves, layout.starts.size - 1
        np.add.at(counts.cells, layout.cells, leaves)
        sums = np.zeros((len(leaves), n_nodes + layout.cells.shape[1], 2))
        sums[:, n_nodes:, SEEN] = leaves[:, :, :GUESSED_WINS].sum(axis=2)
        sums[:, n_nodes:, GUESSED] = leaves[:, :, GUESSED_WINS:].sum(axis=2)
        for edge in range(layout.parents.size - 1, -1, -1):
            node = layout.parents[edge]
            sums[:, node] += sums[:, edge + 1]
            place = layout.pools[:, node] + edge - layout.starts[node]
            np.add.at(counts.pools, place, sums[:, edge + 1])
            counts.own[:, edge] = sums[:, edge + 1, SEEN]
        self._weigh_taus()
        self.evidence.judge_all(counts)

    def _weigh_taus(self) -> None:
        """Weigh the taus by all that was seen at once."""
        counts, layout = self.counts, self.layout
        if not counts.leaves[:, :, :GUESSED_WINS].any():
            return
        if self.linear:
            logs = layout.log_prior + self.linear.weigh_taus()
        else:
            won, lost = counts.cells[:, SEEN_WINS], counts.cells[:, SEEN_LOSSES]
            gained = betaln(layout.wins + won, layout.losses + lost)
            gained -= betaln(layout.wins, layout.losses)
            logs = layout.log_prior + gained.sum(axis=1)
        at = 0
        for factor in self.plan.factors:
            size = len(factor.cells)
            to = at + size * factor.n_pools
            prior = layout.weights[:, at:to].reshape(-1, factor.n_pools, size)
            seen = counts.pools[at:to, SEEN].reshape(factor.n_pools, size)
            logs = logs + _log_dirichlet(prior, np.broadcast_to(seen, prior.shape)).sum(axis=1)
            at = to
        logs -= logs.max()
        counts.taus[:, 0], counts.taus[:, 1] = logs, np.exp(logs) / np.exp(logs).sum()

    def to_record(self) -> list[list[object]]:
        """Write all that was learned for JSON, by name; called by ``BasePolicy.state``."""
        extra = list(self.places)[len(self.plan.pairs) :]
        counts = {name: part.tolist() for name, part in self.counts._asdict().items()}
        counts["pairs"] = self.counts.pairs[: len(self.places)].tolist()
        particles = {name: part.tolist() for name, part in self.learned._asdict().items()}
        return [
            ["extra_pairs", [[encode_values(arm), encode_values(c)] for arm, c in extra]],
            ["counts", counts],
            ["particles", particles if self.has_particles else None],
            ["evidence", self.evidence.to_record()],
            ["moments", self.linear.moments.tolist() if self.linear else None],
        ]

    def restore(self, record: list[list[object]], spec: BanditSpec) -> "FusedBeliefs":
        """Read the beliefs that ``to_record`` wrote, for the plan of this object."""
        made, parts = self.fresh(spec), Record((str(name), part) for name, part in record)
        for arm, context in parts["extra_pairs"]:
            made.find_place((decode_values(arm), decode_values(context)))
        for name, part in made.counts._asdict().items():
            numbers = np.array(parts["counts"][name], np.float64)
            room = part[: len(made.places)] if name == "pairs" else part
            _fill(room, numbers, name)
        if parts["particles"] is not None:
            made.spread_particles()
            for name, part in made.learned._asdict().items():
                _fill(part, np.array(parts["particles"][name], np.float64), name)
        if made.linear:
            _fill(made.linear.moments, np.array(parts["moments"], np.float64), "moments")
        made.evidence.restore(parts["evidence"], made.counts)
        return made

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_score_tables": {}}


def _match(new: Sequence[object], old: Sequence[object]) -> list[tuple[int, int]]:
    """Match the places of what two lists share.

    >>> _match(["a", "b"], ["b", "c"])
    [(1, 0)]
    """
    places = {one: i for i, one in enumerate(old)}
    return [(i, places[one]) for i, one in enumerate(new) if one in places]


def _fill(room: Floats, numbers: Floats, name: str) -> None:
    """Put numbers of a state where they belong, or raise where they do not fit the plan."""
    if numbers.size != room.size:
        raise ValueError(f"{name} does not fit the plan of the table")
    room[...] = numbers.reshape(room.shape)


def _log_dirichlet(prior: Floats, counts: Floats) -> Floats:
    """Compute the log chance of seeing cells in some order so often, by a Dirichlet law.

    ``prior`` are the law's numbers; the last axis are cells.

    >>> _log_dirichlet(np.ones((1, 2)), np.array([[1.0, 1.0]])).round(6).tolist()
    [-1.791759]
    """
    each = (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1)
    whole = gammaln((prior + counts).sum(axis=-1)) - gammaln(prior.sum(axis=-1))
    found: Floats = each - whole
    return found

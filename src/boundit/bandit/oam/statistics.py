"""What optimal allocation matching knows: one regression, counts, and how often it explored."""

from typing import TypeAlias, final

import numpy as np

from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadFeatures, CannotMerge
from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.kernels.score_table import LOWER, UPPER
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.learned.features import (
    FeatureEncoding,
    Features,
    Vector,
    require_length,
)
from boundit.bandit.oam.batch import (
    BatchCandidates,
    add_row,
    find_wanted_pulls,
    schedule_solution,
)
from boundit.bandit.oam.candidates import (
    CandidateArms,
    CandidatePairs,
    Pair,
    Shares,
    drop_ruled_out,
)
from boundit.bandit.oam.round import MatchingChoice, MatchingConstants, choose_for_visitor
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.serialization import Record, decode_values, encode_values
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context

_MOST_CONTEXTS = 4096
"""How many contexts have their candidates remembered."""
ListedPairs: TypeAlias = tuple[PriorBounds, CandidatePairs]
"""Pairs, and the bounds that they were listed by."""


@final
class MatchingStatistics:
    """Statistics that add up, and the allocation last worked out from them."""

    def __init__(self, spec: BanditSpec, features: Features | None) -> None:
        self.features, self.spec = features, spec
        self.encoding = FeatureEncoding.of(spec, features)
        self.counts = ArmCounts()
        self.explorations, self.due = 0, 1
        self.allocation: Shares = {}
        self.rows: tuple[Numbers, Vector] | None = None
        self._pairs: ListedPairs | None = None
        self._candidates: dict[Context, CandidateArms] = {}

    def encode(self, context: Context, arm: Arm) -> Vector:
        """Write the features of an arm in a context, and check that their number is as before."""
        x = self.encoding.encode(context, arm)
        self.require_known_length(x, arm)
        return x

    def require_known_length(self, x: Vector, arm: Arm) -> None:
        """Refuse features of another length than those learned from before."""
        require_length(x, self.rows[1].size if self.rows else None, arm)

    def find_pairs(self, prior: PriorBounds) -> CandidatePairs:
        """List every context met so far with each of its arms that the bounds do not rule out.

        With their features, as OAM's allocation is over these pairs. Kept until the bounds
        change.
        """
        known = self._pairs
        if known is None or known[0] is not prior:
            self._pairs = known = prior, self._list_pairs(prior)
        return known[1]

    def find_candidates(self, context: Context, ranked_arms: RankedArms) -> CandidateArms:
        """Find the arms of a context that the bounds do not rule out, with their features.

        These are OAM's candidates. Kept as long as the ranking is the same.
        """
        known = self._candidates.get(context)
        if known is not None and known.ranked_arms is ranked_arms:
            return known
        kept = RankedArms(drop_ruled_out(ranked_arms))
        rows = [self.encode(context, ranked.arm) for ranked in kept]
        for ranked, row in zip(kept, rows, strict=True):
            require_length(row, rows[0].size, ranked.arm)
        found = CandidateArms(ranked_arms, kept, np.array(rows))
        if len(self._candidates) >= _MOST_CONTEXTS:
            self._candidates.clear()
        self._candidates[context] = found
        return found

    def choose(
        self,
        constants: MatchingConstants,
        prior: PriorBounds,
        context: Context,
        candidates: CandidateArms,
        n_learned: int,
    ) -> MatchingChoice:
        """Choose an arm of one context by OAM (Algorithm 5, lines 3 to 25).

        Gives the arm, the branch that chose it (exploit, or a kind of exploration) and the
        scores.
        """
        pairs, size = self.find_pairs(prior), candidates.n_features
        arms = (
            self.counts.count_plays(context, candidates.kept),
            candidates.find_needs(context, self.allocation),
            candidates.lower,
            candidates.upper,
        )
        known = pairs.x if pairs.keys else np.empty((0, size))
        return choose_for_visitor(
            constants,
            *self._get_regression(size),
            candidates.x,
            arms,
            known,
            pairs.blocks,
            self.explorations,
            n_learned,
        )

    def list_pairs_with(
        self, prior: PriorBounds, context: Context, arm: Arm
    ) -> ListedPairs | None:
        """List the pairs of context and arm there will be once an arm was played in a context.

        None if it was played there before. Features are asked of every arm held: whatever they
        raise, nothing has changed yet.
        """
        if (context, arm) in self.counts:
            return None
        return prior, self._list_pairs(prior, (context, arm))

    def take(
        self, decision: Decision, reward: float, listed: ListedPairs | None = None
    ) -> None:
        """Learn the reward of a decision: add it to OAM's regression and counts.

        ``listed`` are the pairs of context and arm there are with its own, if that was never
        played before.
        """
        context, arm = decision.context, decision.arm
        known = self.rows[1].size if self.rows else None
        x = self.encoding.read_row(decision.features, context, arm, known)
        self.require_known_length(x, arm)
        self.rows = self._get_regression(x.size)
        add_row(*self.rows, x, reward)
        if listed or (context, arm) not in self.counts:
            self._pairs = listed
        self.counts.add(context, arm, reward)

    def count_exploration(self, prior: PriorBounds, constants: MatchingConstants) -> None:
        """Count a round that explored; work out anew how often to pull each pair, if due.

        ``schedule_solution`` says after how many explorations that is.
        """
        self.explorations += 1
        if self.explorations < self.due:
            return
        self.due = schedule_solution(self.explorations)
        pairs = self.find_pairs(prior)
        regression = self._get_regression(pairs.x.shape[1])
        found = find_wanted_pulls(constants, *regression, pairs.x, pairs.blocks)
        self.allocation = dict(zip(pairs.keys, found.tolist(), strict=True))

    def find_features(self, context: Context, arm: Arm) -> tuple[float, ...]:
        """Find the features of one arm in a context, as OAM's regression learns them."""
        return tuple(self.encode(context, arm).tolist())

    def settings(self) -> Record:
        """Give as a JSON object whether OAM's features are a user's own function."""
        return {"features": self.features is not None}

    def fresh(self, spec: BanditSpec) -> "MatchingStatistics":
        """Make OAM's statistics with nothing learned, and the same features."""
        return MatchingStatistics(spec, self.features)

    def widen(self, spec: BanditSpec) -> "MatchingStatistics":
        """Carry what was learned over to a spec with further arms or levels.

        The allocation is worked out at the next exploration.
        """
        if spec == self.spec:
            return self
        result = self.fresh(spec)
        result.counts, result.rows = self.counts, self.rows
        result.explorations, result.due = self.explorations, self.explorations + 1
        result.allocation = self.allocation
        if self.rows and self.features is None and result.encoding != self.encoding:
            turn = self.encoding.map_into(result.encoding, self.rows[1].size)
            result.rows = turn @ self.rows[0] @ turn.T, turn @ self.rows[1]
        return result

    def join(
        self, other: "MatchingStatistics", shared: "MatchingStatistics"
    ) -> "MatchingStatistics":
        """Add up regression, counts and explorations of two policies; ``shared`` counts once.

        The allocation is worked out at the next exploration.
        """
        if self.features is not other.features:
            raise CannotMerge("the two policies learn with other features")
        result = self.fresh(self.spec)
        result.counts = self.counts.join(other.counts, shared.counts)
        result.explorations = self.explorations + other.explorations - shared.explorations
        result.due = result.explorations + 1
        parts = [statistics.rows for statistics in (self, other, shared)]
        known = [rows for rows in parts if rows]
        if known:
            none = np.zeros_like(known[0][0]), np.zeros_like(known[0][1])
            one, two, base = (rows or none for rows in parts)
            result.rows = one[0] + two[0] - base[0], one[1] + two[1] - base[1]
        return result

    def to_record(self) -> Record:
        """Write regression, counts and allocation for JSON."""
        return {
            "counts": self.counts.to_record(),
            "gram": self.rows[0].tolist() if self.rows else None,
            "moment": self.rows[1].tolist() if self.rows else None,
            "explorations": self.explorations,
            "due": self.due,
            "allocation": [
                [encode_values(context), encode_values(arm), str(pulls)]
                for (context, arm), pulls in self.allocation.items()
            ],
        }

    def restore(self, record: object, spec: BanditSpec) -> "MatchingStatistics":
        """Read the statistics that ``to_record`` wrote."""
        if not isinstance(record, dict):
            raise TypeError("the statistics are no object")
        result = self.fresh(spec)
        result.counts = ArmCounts.from_record(record["counts"])
        result.explorations, result.due = int(record["explorations"]), int(record["due"])
        result.allocation = {
            (decode_values(context), decode_values(arm)): float(pulls)
            for context, arm, pulls in record["allocation"]
        }
        if record["gram"] is not None:
            gram, moment = np.array(record["gram"], float), np.array(record["moment"], float)
            if moment.ndim != 1 or gram.shape != (moment.size,) * 2:
                raise ValueError("the matrices do not fit each other")
            result.rows = gram, moment
        return result

    def __getstate__(self) -> dict[str, object]:
        # What is known by who is who cannot be known of a copy.
        return {**vars(self), "_candidates": {}, "_pairs": None}

    def _get_regression(self, n_features: int) -> tuple[Numbers, Vector]:
        """Give what OAM's regression is fitted from: ``G = sum of x x'``, ``b = sum of r x``.

        Zeros before the first reward.
        """
        return self.rows or (np.zeros((n_features, n_features)), np.zeros(n_features))

    def _list_pairs(self, prior: PriorBounds, *more: Pair) -> CandidatePairs:
        """List every context met, and those of ``more``, with each arm that bounds leave.

        With their features, context by context; arms that are held no more are left out.
        """
        arms: dict[Context, dict[Arm, None]] = {}
        for context, arm in (*self.counts, *more):
            met = arms.setdefault(context, dict.fromkeys(self.spec.arms))
            if arm not in self.spec.retired:
                met[arm] = None
        keys, rows, blocks = list[Pair](), list[Vector](), [0]
        for context, met in arms.items():
            for ranked in drop_ruled_out(prior.rank(tuple(met), context, held=False)):
                keys.append((context, ranked.arm))
                rows.append(self.encode(context, ranked.arm))
            blocks.append(len(keys))
        return CandidatePairs(tuple(keys), np.array(rows), np.array(blocks))


def lay_out_candidates(
    statistics: MatchingStatistics, layout: BatchLayout
) -> BatchCandidates | None:
    """Put the arms that bounds leave in each context, and their features, into arrays.

    For OAM's kernel of whole runs; None if features would be refused.
    """
    try:
        found = [
            statistics.find_candidates(context, ranked_arms)
            for context, ranked_arms in zip(layout.contexts, layout.ranked_arms, strict=True)
        ]
        # Of the ranked arms of each context, the positions of those that are kept.
        kept = [
            start + candidates.ranked_arms.index(ranked)
            for start, candidates in zip(layout.starts, found, strict=False)
            for ranked in candidates.kept
        ]
        others = sorted(set(range(len(layout.places))) - set(kept))
        pairs = layout.pairs
        ruled_out = [statistics.find_features(pairs[i][1], pairs[i][0]) for i in others]
        x = np.concatenate([*(candidates.x for candidates in found), *_stack(ruled_out)])
    except (BadFeatures, ValueError):
        return None
    at = kept + others
    sizes = [len(candidates.kept) for candidates in found]
    place_of = np.empty(len(at), np.int64)
    place_of[at] = np.arange(len(at))
    return BatchCandidates(
        x,
        np.concatenate([[0], np.cumsum(sizes)]),
        layout.score_table[at, LOWER],
        layout.score_table[at, UPPER],
        layout.places[at],
        layout.means[at],
        place_of[layout.rows],
    )


def _stack(rows: list[tuple[float, ...]]) -> list[Numbers]:
    """Put features into an array, if there are any; called by ``lay_out_candidates``."""
    return [np.array(rows)] if rows else []

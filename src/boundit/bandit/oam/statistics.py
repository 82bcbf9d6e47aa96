"""What optimal allocation matching knows: one regression, counts, and how often it explored."""

from typing import TypeAlias, final

import numpy as np

from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.errors import BadFeatures, CannotMerge
from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.kernels.score_table import LOWER, UPPER
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.learned.features import FeatureEncoding, Features, Vector, require_length
from boundit.bandit.level_codec import Record, read_values, spelled_values
from boundit.bandit.oam.batch import BatchCandidates, add_row, next_solution, wanted
from boundit.bandit.oam.candidates import (
    CandidateArms,
    CandidatePairs,
    Pair,
    Shares,
    worthwhile,
)
from boundit.bandit.oam.round import MatchingChoice, MatchingConstants, estimates, visited
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context

_MOST_OFFERS = 4096
Listed: TypeAlias = tuple[PriorBounds, int, CandidatePairs]
"""Pairs, and the bounds that they were listed by."""


@final
class MatchingStatistics:
    """Statistics that add up, and the allocation last worked out from them."""

    def __init__(self, scene: BanditSpec, features: Features | None) -> None:
        self.features, self.scene = features, scene
        self.encoding = FeatureEncoding.of(scene, features)
        self.tally = ArmCounts()
        self.explorations, self.due = 0, 1
        self.allocation: Shares = {}
        self.rows: tuple[Numbers, Vector] | None = None
        self._pairs: Listed | None = None
        self._offers: dict[Context, CandidateArms] = {}

    def vector(self, context: Context, arm: Arm) -> Vector:
        """Write the features of an arm in a context, as long as those learned from before."""
        x = self.encoding.vector(context, arm)
        self.require(x, arm)
        return x

    def require(self, x: Vector, arm: Arm) -> None:
        """Refuse features of another length than those learned from before."""
        require_length(x, self.rows[1].size if self.rows else None, arm)

    def estimates(self, x: Numbers) -> tuple[Vector, Numbers, Numbers]:
        """``theta``, the spread of each row of ``x``, and its share that nothing measured."""
        return estimates(x, *self._statistics(x.shape[1]))

    def pairs(self, prior: PriorBounds) -> CandidatePairs:
        """Every pair of a context that was met and an arm that the bounds do not rule out."""
        known = self._pairs
        if known is None or known[0] is not prior or known[1] != prior.version:
            self._pairs = known = prior, prior.version, self._listed(prior)
        return known[2]

    def offer(self, context: Context, lineup: RankedArms) -> CandidateArms:
        """Look at the arms of a context; what was seen before is not worked out anew."""
        known = self._offers.get(context)
        if known is not None and known.lineup is lineup:
            return known
        kept = RankedArms(worthwhile(lineup))
        rows = [self.vector(context, entrant.arm) for entrant in kept]
        for entrant, row in zip(kept, rows, strict=True):
            require_length(row, rows[0].size, entrant.arm)
        found = CandidateArms(lineup, kept, np.array(rows))
        if len(self._offers) >= _MOST_OFFERS:
            self._offers.clear()
        self._offers[context] = found
        return found

    def choice(
        self,
        rule: MatchingConstants,
        prior: PriorBounds,
        context: Context,
        offer: CandidateArms,
        events: int,
    ) -> MatchingChoice:
        """Choose among the arms on offer (lines 3 to 25)."""
        kept, pairs = offer.kept, self.pairs(prior)
        size = offer.x.shape[1]
        arms = (
            self.tally.counts(context, kept),
            offer.needs(context, self.allocation),
            offer.lower,
            offer.upper,
        )
        known = pairs.x if pairs.keys else np.empty((0, size))
        return visited(
            rule,
            *self._statistics(size),
            offer.x,
            arms,
            known,
            pairs.blocks,
            self.explorations,
            events,
        )

    def listed_with(self, prior: PriorBounds, context: Context, arm: Arm) -> Listed | None:
        """List the pairs as they will be once a pair was played; None if it was.

        Features are asked of every arm held: whatever they raise, nothing has changed yet.
        """
        if self.tally[context, arm].n:
            return None
        return prior, prior.version, self._listed(prior, (context, arm))

    def add(
        self,
        context: Context,
        arm: Arm,
        x: Vector,
        reward: float,
        listed: Listed | None = None,
    ) -> None:
        """Take in one reward, and the pairs that there are with it if it is a new one."""
        self.rows = self._statistics(x.size)
        add_row(*self.rows, x, reward)
        if listed or not self.tally[context, arm].n:
            self._pairs = listed
        self.tally.add(context, arm, reward)

    def explored(self, prior: PriorBounds, rule: MatchingConstants) -> None:
        """Count a round of exploration; work the allocation out anew when one is due."""
        self.explorations += 1
        if self.explorations < self.due:
            return
        self.due = next_solution(self.explorations)
        pairs = self.pairs(prior)
        found = wanted(rule, *self._statistics(pairs.x.shape[1]), pairs.x, pairs.blocks)
        self.allocation = dict(zip(pairs.keys, found.tolist(), strict=True))

    def settings(self) -> Record:
        """Of a function only that there is one."""
        return {"features": self.features is not None}

    def fresh(self, scene: BanditSpec) -> "MatchingStatistics":
        """The same kind, nothing learned."""
        return MatchingStatistics(scene, self.features)

    def joined(
        self, other: "MatchingStatistics", shared: "MatchingStatistics"
    ) -> "MatchingStatistics":
        """Put two together; the allocation is worked out at the next exploration."""
        if self.features is not other.features:
            raise CannotMerge("the two policies learn with other features")
        result = self.fresh(self.scene)
        result.tally = self.tally.joined(other.tally, shared.tally)
        result.explorations = self.explorations + other.explorations - shared.explorations
        result.due = result.explorations + 1
        parts = [book.rows for book in (self, other, shared)]
        known = [rows for rows in parts if rows]
        if known:
            none = np.zeros_like(known[0][0]), np.zeros_like(known[0][1])
            one, two, base = (rows or none for rows in parts)
            result.rows = one[0] + two[0] - base[0], one[1] + two[1] - base[1]
        return result

    def record(self) -> Record:
        """Spell it for JSON."""
        return {
            "tally": self.tally.record(),
            "gram": self.rows[0].tolist() if self.rows else None,
            "moment": self.rows[1].tolist() if self.rows else None,
            "explorations": self.explorations,
            "due": self.due,
            "allocation": [
                [spelled_values(context), spelled_values(arm), str(pulls)]
                for (context, arm), pulls in self.allocation.items()
            ],
        }

    def restored(self, record: object, scene: BanditSpec) -> "MatchingStatistics":
        """Read back what ``record`` wrote."""
        if not isinstance(record, dict):
            raise TypeError("the statistics are no object")
        result = self.fresh(scene)
        result.tally = ArmCounts.read(record["tally"])
        result.explorations, result.due = int(record["explorations"]), int(record["due"])
        result.allocation = {
            (read_values(context), read_values(arm)): float(pulls)
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
        return {**vars(self), "_offers": {}, "_pairs": None}

    def _statistics(self, n_features: int) -> tuple[Numbers, Vector]:
        return self.rows or (np.zeros((n_features, n_features)), np.zeros(n_features))

    def _listed(self, prior: PriorBounds, *more: Pair) -> CandidatePairs:
        arms: dict[Context, dict[Arm, None]] = {}
        for context, arm in (*self.tally, *more):
            arms.setdefault(context, dict.fromkeys(self.scene.arms))[arm] = None
        keys, rows, blocks = list[Pair](), list[Vector](), [0]
        for context, among in arms.items():
            for entrant in worthwhile(prior.entrants(tuple(among), context, held=False)):
                keys.append((context, entrant.arm))
                rows.append(self.vector(context, entrant.arm))
            blocks.append(len(keys))
        return CandidatePairs(tuple(keys), np.array(rows), np.array(blocks))


def offered(book: MatchingStatistics, board: BatchLayout) -> BatchCandidates | None:
    """Lay out the arms of a board for whole runs; None if some features would be refused."""
    try:
        found = [
            book.offer(c, lineup)
            for c, lineup in zip(board.contexts, board.lineups, strict=True)
        ]
        x = np.concatenate([offer.x for offer in found])
    except (BadFeatures, ValueError):
        return None
    # Of each lineup, the positions of the arms that are kept.
    at = [
        start + offer.lineup.index(entrant)
        for start, offer in zip(board.starts, found, strict=False)
        for entrant in offer.kept
    ]
    sizes = [len(offer.kept) for offer in found]
    return BatchCandidates(
        x,
        np.concatenate([[0], np.cumsum(sizes)]),
        board.sheet[at, LOWER],
        board.sheet[at, UPPER],
        board.target[at],
        board.means[at],
    )

"""A policy of another paper, on the same base as ours, so that it meets what they meet."""

from collections.abc import Mapping
from typing import Self, final

import numpy as np

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadArm, BadOption
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.rng import StreamKey, StreamKeys
from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.learned_ids import REMEMBERED, IdStore
from boundit.bandit.many.score_batch import ScoreBatch
from boundit.bandit.options import read_positive
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames
from boundit.terms.bound import Arm, Context
from boundit_research.rivals.blocks import RivalBlocks
from boundit_research.rivals.columns import FREE, INDEX
from boundit_research.rivals.facts import PairFacts
from boundit_research.rivals.play import (
    KINDS,
    decide_rival,
    learn_rival,
    play_rival,
    start_rival,
)

NOTHING = PairFacts({})


@final
class RivalPolicy(BasePolicy[RivalBlocks]):
    """One of ``KINDS``, with what it is told beforehand and a constant to tune.

    Rivals are for comparison: they play all arms they hold, and rewards have to be learned in
    the order of their decisions. What each does, and what of it is from memory of its paper,
    is said where its kernel is.

    >>> policy = RivalPolicy("GLUE", arms=["A", "B"], seed=1)
    >>> policy.learn(policy.decide(), 1.0)
    >>> policy.decide().arm
    ('B',)
    """

    samples = True

    def __init__(
        self,
        kind: str,
        *,
        facts: PairFacts = NOTHING,
        scale: float = 1.0,
        seed: int | None = None,
        explore: float = 0.0,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        remember: int | IdStore = REMEMBERED,
    ) -> None:
        if kind not in KINDS:
            raise BadOption("kind", f"one of {', '.join(KINDS)}", kind)
        self._kind, self._scale = kind, read_positive("scale", scale)
        spec = BanditSpec.of(prior=None, arms=arms, context=context, reward_range=None)
        super().__init__(
            spec,
            BoundMonitor.of(None, watch=False),
            RivalBlocks(KINDS.index(kind), facts, spec),
            seed=seed,
            explore=explore,
            remember=remember,
        )

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, remember: IdStore | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit.

        Here since every policy has it; ``describe_policy`` reads what it is made from.
        """

        def read(options: Record) -> Record:
            return {**options, "facts": PairFacts.from_record(options["facts"])}

        return cls.restore(state, read, remember)

    def options(self) -> Record:
        """Give kind and scale as the constructor took them."""
        return {"kind": self._kind, "scale": self._scale}

    def find_block(self, context: Context) -> Floats:
        """Find what is kept of the arms in a context; at first, start it."""
        tables = self.statistics
        block = tables.blocks.get(context)
        if block is None:
            block = tables.blocks[context] = tables.make_block(context)
            start_rival(tables.kind, block, self._scale, self.ids.key_stream("0")[0])
        return block

    def choose(
        self, context: Context, ranked_arms: RankedArms, stream_key: StreamKey
    ) -> Scores:
        """Let the rival's kernel choose among all arms held."""
        if ranked_arms.arms != self.spec.arms:
            raise BadArm(ranked_arms[0].arm, "a rival plays all arms that it holds")
        tables, block = self.statistics, self.find_block(context)
        row = decide_rival(tables.kind, block, tables.shared, self._scale, *stream_key)
        score_table = ranked_arms.blank_table.copy()
        score_table[:, SCORE], score_table[:, FREE_SCORE] = block[:, INDEX], block[:, FREE]
        unscored = int(np.isnan(block[:, INDEX]).sum())
        return Scores(ranked_arms, (row, unscored), score_table, wanted=False)

    def choose_many(
        self, context: Context, ranked_arms: RankedArms, stream_keys: StreamKeys
    ) -> ScoreBatch:
        """Let the rival's kernel choose for several visitors of one context."""
        n = len(stream_keys.id_hashes)
        each = [self.choose(context, ranked_arms, stream_keys.get_key(i)) for i in range(n)]
        found = np.array([scores.found for scores in each])
        return ScoreBatch(each[0], found, np.array([scores.score_table for scores in each]))

    def take(
        self,
        decision: Decision,
        reward: float,
        observed: Mapping[str, object] | None,  # noqa: ARG002, rivals learn from rewards alone
    ) -> None:
        """Learn one reward, with the seed that VirUCB draws rows of the log by."""
        tables, row = self.statistics, self._find_row(decision.arm)
        block, (seed, _) = self.find_block(decision.context), self.ids.key_stream(decision.id)
        learn_rival(tables.kind, block, tables.shared, self._scale, seed, row, reward)

    def _find_row(self, arm: Arm) -> int:
        """Find the row of an arm in every block."""
        return self.spec.arms.index(arm)

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs of the rival from nothing learned; gives the arm of every round.

        In compiled code; None where a share of rounds is to explore besides.
        """
        if runs.explore:
            return None
        tables = self.statistics
        blocks = np.array([tables.make_block(context) for context in layout.contexts])
        arrays = layout.make_arrays(runs)
        return play_rival(tables.kind, blocks, tables.start(), self._scale, arrays)

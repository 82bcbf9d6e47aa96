"""What a rival policy has learned: a block of numbers for each context, and what all share."""

from collections.abc import Mapping
from functools import cached_property
from typing import final

import numpy as np

from boundit.bandit.decision import Decision
from boundit.bandit.errors import CannotMerge
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.serialization import Record, decode_values, encode_values
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context
from boundit_research.rivals.arrow_kernels import WEIGHTS
from boundit_research.rivals.columns import (
    BIAS,
    FEATURES,
    LOG_ROWS,
    LOG_TOTAL,
    LOWER,
    NOISE,
    NUMBER,
    UPPER,
)
from boundit_research.rivals.facts import (
    PairFacts,
    compute_noise,
)
from boundit_research.rivals.oful_kernels import make_untrained
from boundit_research.rivals.play import R_OFUL


@final
class RivalBlocks:
    """Blocks of numbers by context, made when it is first met, and what all contexts share."""

    def __init__(self, kind: int, facts: PairFacts, spec: BanditSpec) -> None:
        self.kind, self.facts, self.spec = kind, facts, spec
        self.blocks: dict[Context, Floats] = {}
        self.shared = self.start()

    def start(self) -> Floats:
        """Make what all contexts share before the first reward."""
        if self.kind != R_OFUL or not self.spec.arms:
            return np.zeros((1, WEIGHTS))
        x = self._encoding.encode(self._sample_context, self.spec.arms[0])
        return make_untrained(len(self.spec.arms), x.size)

    @property
    def _sample_context(self) -> Context:
        """Any context, to know how many features there are."""
        known = next(iter(self.facts.contexts), None)
        return (0,) * len(self.spec.context or ()) if known is None else known

    def make_block(self, context: Context) -> Floats:
        """Make the numbers of a context's arms before anything is learned, a row for each arm."""
        arms, known = self.spec.arms, self.facts
        if self.kind == R_OFUL:
            known = known.restrict(arms, self._encoding.encode)
        facts = [known.get(arm, context) for arm in arms]
        rows = self._encode(context)
        block = np.zeros((len(arms), FEATURES + rows.shape[1]))
        met = {context, *known.contexts} if self.kind == R_OFUL else {context}
        noises = np.max([self._compute_noises(known, where) for where in met], axis=0)
        for row, (arm, fact) in enumerate(zip(arms, facts, strict=True)):
            block[row, [LOWER, UPPER]] = fact.lower, fact.upper
            block[row, [LOG_ROWS, LOG_TOTAL]] = fact.rows, fact.total
            block[row, BIAS] = fact.bias
            block[row, NUMBER] = self.facts.numbers.get((arm, context), -1)
        block[:, NOISE], block[:, FEATURES:] = noises, rows
        return block

    def _compute_noises(self, known: PairFacts, context: Context) -> list[float]:
        """Compute the sub-Gaussian factor of every arm's rewards in a context."""
        facts = [known.get(arm, context) for arm in self.spec.arms]
        best = max(fact.lower for fact in facts)
        return [compute_noise(fact.lower, fact.upper, best) for fact in facts]

    @cached_property
    def _encoding(self) -> FeatureEncoding:
        """How contexts and arms are features, as of LinUCB."""
        return FeatureEncoding.of(self.spec)

    def _encode(self, context: Context) -> Floats:
        """Write the features of a context's arms, of which only R-OFUL has any."""
        if self.kind != R_OFUL:
            return np.empty((len(self.spec.arms), 0))
        return np.array([self._encoding.encode(context, arm) for arm in self.spec.arms])

    def take(self, decision: Decision, reward: float) -> None:
        """Learn nothing: a rival learns by ``RivalPolicy.take``, which knows its seed.

        Here since the common base asks statistics for it.
        """

    def find_features(self, context: Context, arm: Arm) -> tuple[float, ...]:  # noqa: ARG002
        """Give no features, as blocks hold them; called by ``BasePolicy.adopt``."""
        return ()

    def settings(self) -> Record:
        """Give the facts that it starts from, for JSON; called by ``BasePolicy.state``."""
        return {"facts": self.facts.to_record()}

    def fresh(self, spec: BanditSpec) -> "RivalBlocks":
        """Make tables with nothing learned for other arms; called by ``BasePolicy.fresh``."""
        return RivalBlocks(self.kind, self.facts, spec)

    def widen(self, spec: BanditSpec) -> "RivalBlocks":
        """Refuse further arms or levels; called by ``BasePolicy.refresh``."""
        if spec != self.spec:
            raise CannotMerge("a rival keeps the arms it started with")
        return self

    def join(self, other: "RivalBlocks", shared: "RivalBlocks") -> "RivalBlocks":  # noqa: ARG002
        """Refuse to add up what two rivals learned; called by ``BasePolicy.merged``."""
        raise CannotMerge("what a rival learned hangs on the order of its rounds")

    def to_record(self) -> object:
        """Write all that was learned for JSON; called by ``BasePolicy.state``."""
        blocks = [[encode_values(of), block.tolist()] for of, block in self.blocks.items()]
        return {"blocks": blocks, "shared": self.shared.tolist()}

    def restore(self, record: object, spec: BanditSpec) -> "RivalBlocks":
        """Read what ``to_record`` wrote; called by ``BasePolicy.restore_statistics``."""
        found = self.fresh(spec)
        if not isinstance(record, Mapping):
            raise TypeError("what was learned is no object")
        found.shared = np.array(record["shared"], dtype=np.float64)
        for context, block in record["blocks"]:
            found.blocks[decode_values(context)] = np.array(block, dtype=np.float64)
        return found

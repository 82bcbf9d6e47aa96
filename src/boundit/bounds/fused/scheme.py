"""A plan before it is counted: the variables gone over, their laws, and the reward's cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import prod
from typing import TypeAlias

from boundit.bounds.fused.pooled_law import PooledLaw
from boundit.terms.names import join_names

SchemeRank: TypeAlias = tuple["WeightSource", int, int, tuple[str, ...]]
"""How good a scheme is, the least best: its worst source, numbers to learn, factors, names."""


class WeightSource(IntEnum):
    """Where the weights of a factor come from, the best first."""

    ROWS = 0
    TILT = 1
    ROUNDS = 2


@dataclass(frozen=True, slots=True)
class SchemeFactor:
    """One factor: its variables in order, their law, and where its weights come from.

    ``tables`` are the numbers of the unselected tables whose rows are draws of it, where rows
    of the log are none.
    """

    variables: tuple[str, ...]
    law: PooledLaw
    source: WeightSource
    tables: tuple[int, ...] = ()

    def count_unknown(self, levels: Mapping[str, int]) -> int:
        """Count the weights to be learned: one less than there are cells, in every pool."""
        pools = prod(levels[name] for name in self.law.given)
        return pools * (prod(levels[name] for name in self.variables) - 1)

    def explain(self, refusal: str) -> str:
        """Say where the weights come from and which pairs share them.

        ``refusal`` says why rows of the log are no draws, where they are none.
        """
        names, law = join_names(self.variables), self.law.light
        if self.source is WeightSource.ROWS:
            rows = "rows of an external table" if self.tables else "rows of the log"
            why = f"{rows} are draws of {law}"
        elif self.source is WeightSource.TILT:
            why = (
                f"rows of the log show {law} up to one tilt by {names}, which all pools share: "
                f"{refusal}, and not by {join_names(self.law.given)}"
            )
        else:
            why = f"{law} is learned from rounds alone: {refusal}"
        return f"{why}; {self.law.describe_pooling()}"


@dataclass(frozen=True, slots=True)
class Scheme:
    """The factors one goes over in turn, and the law of the reward given all their cells."""

    reward: PooledLaw
    factors: tuple[SchemeFactor, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of all factors, in order."""
        return tuple(name for factor in self.factors for name in factor.variables)

    @property
    def source(self) -> WeightSource:
        """The worst source of weights among the factors; rows where there are none."""
        return max((factor.source for factor in self.factors), default=WeightSource.ROWS)

    def list_drawn(self) -> list[PooledLaw]:
        """List the laws of which rows of the log are draws: the reward's, and of factors."""
        factors = [each for each in self.factors if each.source is WeightSource.ROWS]
        return [self.reward, *(each.law for each in factors if not each.tables)]

    def rank(self, levels: Mapping[str, int]) -> SchemeRank:
        """Rank it: weights from rows, then up to a tilt, then from rounds; then fewest numbers.

        These are the means of cells and the weights of pools.
        """
        cells = prod(levels[name] for name in self.reward.given)
        unknown = sum(factor.count_unknown(levels) for factor in self.factors)
        return self.source, cells + unknown, len(self.factors), self.variables

    def list_reasons(self, *, n_external: int = 0) -> tuple[str, ...]:
        """Say why cells of the log are those of rounds, and what must hold of both.

        ``n_external`` is how many external tables there are.
        """
        outcome, given = join_names(self.reward.of), join_names(self.reward.given)
        where = f"with the same {given}" if given else "whatever else they hold"
        used = {i for factor in self.factors for i in factor.tables}
        left = n_external - len(used)
        unused = (
            f"{left} external table{'s' if left > 1 else ''} of rows: not counted, as the "
            "weights come from rows of the log or from rounds"
        )
        return (
            f"rows and rounds {where} have one mean of {outcome}: neither selection (Rule 1) "
            f"nor what made the arm come about (Rule 2) tells of {outcome} there",
            self.reward.describe_pooling(),
            "a round counts if its arm was chosen by the context, the past and chance alone",
            *([unused] if left > 0 else []),
        )

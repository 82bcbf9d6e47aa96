"""Estimates and standard errors of one rule's end, and where they are trusted."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from boundit.bounds.approximate.critical import LEAST_FREEDOM, widen_for_freedom
from boundit.bounds.approximate.explain_end import explain_end
from boundit.bounds.approximate.formula_ends import FoundEnd
from boundit.bounds.approximate.influences import Claims, LineInfluence
from boundit.bounds.approximate.term_counts import TermCounter
from boundit.bounds.proof import Place
from boundit.counts.errors import TooLarge
from boundit.counts.named_array import Floats
from boundit.terms.sampling import EndSampling

LEAST_REWARDS = 15.0
"""So many successes, and failures, must count behind an end of this method."""
TOO_FEW = (
    "too few successes or failures, too few rows, or rewards that vary too little, for an "
    "approximation"
)
MOST_INFLUENCES = 400_000_000
"""Up to how many influences of lines on ends are looked at for one rule."""


@dataclass(frozen=True, slots=True, eq=False)
class RuleEnd:
    """One end of a rule at all rows: estimates and standard errors, and where it is trusted.

    ``taken`` says at which rows the rule has a claim.
    """

    found: FoundEnd
    error: Floats
    freedom: Floats
    n_axes: int
    taken: NDArray[np.bool_]

    @property
    def is_trusted(self) -> NDArray[np.bool_]:
        """Where enough rewards stand behind the end, at every level the worst is taken of.

        Of n rows none shows a reward of chance ``log(1 / a) / n`` with chance ``a``, that of a
        miss: such a reward must not move the end farther than it lies from the estimate.
        """
        rewards, never = self.found.rewards, self.found.rewards.rows == 0
        enough = np.minimum(rewards.successes, rewards.failures) >= LEAST_REWARDS
        enough &= self.error**4 >= LEAST_REWARDS * rewards.tails
        chance = self.found.chance
        enough &= -ndtri(chance) * self.error >= -np.log(chance) * rewards.hidden
        enough &= self.freedom >= LEAST_FREEDOM
        inner = tuple(range(self.n_axes, enough.ndim))
        return np.asarray((enough | never).all(axis=inner))

    def find_ends(self, critical: float) -> Floats:
        """Find the lower end of every row, so many standard errors below the estimate."""
        far = widen_for_freedom(critical, self.freedom)
        inner = tuple(range(self.n_axes, self.error.ndim))
        return np.asarray((self.found.value - far * self.error).min(axis=inner).clip(0, 1))

    def explain(
        self, place: Place, critical: float, counts: TermCounter, boxes: str | None
    ) -> EndSampling:
        """Say why chance moves the end at one row."""
        low = self.found.value - critical * self.error
        at = tuple(0 if n == 1 else i for i, n in zip(place, low.shape, strict=False))
        worst = low[at]
        levels = np.unravel_index(int(worst.argmin()), worst.shape) if worst.ndim else ()
        return explain_end(self.found, (*place, *map(int, levels)), counts, boxes)

    def list_claims(self, critical: float) -> Claims:
        """List the rows the rule has a claim on, each at the worst level of its choices."""
        low = self.found.value - critical * self.error
        rows, inner = low.shape[: self.n_axes], low.shape[self.n_axes :]
        worst = low.reshape(*rows, -1).argmin(axis=-1)
        # Other rules may read axes that this one does not: such rows are one claim.
        taken = np.broadcast_to(self.taken, np.broadcast_shapes(self.taken.shape, rows))
        places = np.unique(np.minimum(np.argwhere(taken), np.subtract(rows, 1)), axis=0)
        levels = np.unravel_index(worst[tuple(places.T)], inner) if inner else ()
        joined = np.column_stack([places, *levels]) if inner else places
        return Claims(self.found.derivatives, self.found.rows, joined)


EndPair: TypeAlias = tuple[RuleEnd, RuleEnd]
"""The lower end of a rule, and the upper one as a lower end of failures."""


def make_rule_end(
    found: FoundEnd, n_axes: int, lines: LineInfluence, *, apart: bool
) -> RuleEnd:
    """Find the standard errors of an end, term by term or of all terms together.

    ``apart`` says that errors of different terms are uncorrelated.
    """
    variance, freedom = found.variance.smoothed, found.variance.freedom
    shape = found.value.shape
    if lines.is_clustered or not apart:
        places = np.argwhere(np.ones(shape, dtype=bool))
        n_sums = len(places) * lines.n_sums
        if n_sums > MOST_INFLUENCES:
            raise TooLarge(found.rows, n_sums, MOST_INFLUENCES)
        claims = Claims(found.derivatives, found.rows, places)
        joint, of_clusters = lines.find_variances(claims)
        variance = joint.reshape(shape) + found.variance.cushion
        freedom = np.minimum(freedom, of_clusters.reshape(shape))
    taken = np.ones(shape[:n_axes], dtype=bool)
    return RuleEnd(found, np.sqrt(np.maximum(variance, 0)), freedom, n_axes, taken)

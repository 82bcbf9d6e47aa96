r"""Watching the bounds: what the arms earn, held against what the prior says.

For an arm and context with bound :math:`[L, U]`, rewards in :math:`[0, 1]` with sum :math:`S`
over :math:`n` plays, and any mean :math:`m < q`, the likelihood ratio of 0/1 rewards

.. math:: (q/m)^S \, ((1-q)/(1-m))^{n-S}

is a nonnegative supermartingale as long as the true mean is at most :math:`m`: rewards need not
be 0 or 1, since :math:`e^{\lambda y} \le 1 - y + y e^\lambda`. So is its average over :math:`q`
uniform on :math:`(m, 1)`, and by Ville's inequality it ever reaches :math:`1/a` with chance
at most :math:`a`, however arms are chosen and whenever one looks. The means it has not rejected
are an anytime-valid confidence sequence; the lower end is the same with rewards turned around.
"""

import math
from dataclasses import dataclass
from typing import final

from scipy.special import betaincc, betaln

from boundit.bandit.errors import BadOption
from boundit.bandit.learned.arm_counts import ArmCount
from boundit.bandit.prior.bounds import PriorBounds
from boundit.terms.bound import Arm, Context
from boundit.terms.interval import Interval


@final
@dataclass(frozen=True)
class Watch:
    """How closely to watch: the chance ``alpha`` of a false alarm, over all pairs and for ever.

    A bound that wrongly rules an arm out is only noticed if the arm is played: an error of
    ``e`` needs about ``log(K / alpha) / (2 e^2)`` plays of that pair, K pairs in all. ``plays``
    is how often every bounded pair is played, come what may; it costs regret on arms that are
    truly bad.

    Rewards must be stationary, and whether one arrives must not hang on its size: where bad
    ones get lost, the mean of those that arrive is another thing than the bound speaks of.
    """

    alpha: float = 0.05
    plays: int = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, int | float) and 0 < self.alpha < 1):
            raise BadOption("alpha", "a chance between 0 and 1", self.alpha)
        if not (isinstance(self.plays, int) and self.plays >= 0):
            raise BadOption("plays", "a whole number, 0 or more", self.plays)

    def refutes(
        self, prior: PriorBounds, context: Context, arm: Arm, cell: ArmCount
    ) -> "Refutation | None":
        """Test the bound of one arm and context by the rewards counted in ``cell``.

        Gives the ``Refutation`` if their mean surely lies outside, else None; rewards are on
        the scale from 0 to 1.
        """
        table = prior.binding
        bound = table.bounds.get((arm, context)) if table else None
        if table is None or bound is None or not cell.n:
            return None
        low, high = table.outcome_range
        lower, upper = ((end - low) / (high - low) for end in (bound.lower, bound.upper))
        enough = math.log(2 * max(len(prior.informative), 1) / self.alpha)
        over = log_evidence_above(cell.total, cell.n, upper) >= enough
        under = log_evidence_above(cell.n - cell.total, cell.n, 1 - lower) >= enough
        if not (over or under):
            return None
        level = self.alpha + (1 - table.confidence if table.confidence else 0.0)
        mean = low + (high - low) * cell.mean
        return Refutation(arm, context, bound.interval, cell.n, mean, level)


@final
@dataclass(frozen=True)
class Refutation:
    """What contradicted the bounds, so that none from the same graph and log is believed.

    Policies that go by bounds drop them; ``Fused`` goes on by cells, with the log discounted.
    """

    arm: Arm
    context: Context
    bound: Interval
    n: int
    mean: float
    level: float

    def __str__(self) -> str:
        return self._write(f" in context {self.context!r}" if self.context else "")

    def write_without_context(self) -> str:
        """Write it for a log, which must not tell of a visitor; ``BoundMonitor.drop`` does."""
        return self._write(" in one of its contexts" if self.context else "")

    def _write(self, where: str) -> str:
        """Write what contradicted the bounds; called by ``__str__`` and for logs."""
        return (
            f"arm {self.arm!r}{where} earned {self.mean:.4g} on average over {self.n} rewards, "
            f"and its bound is {self.bound}: refuted at level {self.level:.3g}, "
            "no bound of the same graph and log is believed any more"
        )


def log_evidence_above(total: float, n: int, m: float) -> float:
    """Compute the log of the evidence, by rewards so far, that their mean is above ``m``.

    ``total`` is the sum of ``n`` rewards from 0 to 1; the evidence is the averaged likelihood
    ratio against a mean of at most ``m``.

    >>> log_evidence_above(90, 100, 0.5) > 30 > 0 > log_evidence_above(40, 100, 0.5)
    True
    """
    if m >= 1:
        return -math.inf
    if m <= 0:
        return math.inf if total > 0 else -math.inf
    beyond = float(betaincc(1 + total, 1 + n - total, m))
    if beyond <= 0:
        return -math.inf
    averaged = float(betaln(1 + total, 1 + n - total)) + math.log(beyond) - math.log1p(-m)
    return averaged - total * math.log(m) - (n - total) * math.log1p(-m)

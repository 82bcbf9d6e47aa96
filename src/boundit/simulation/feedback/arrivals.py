"""Which rewards a policy has learned before each decision, and in which order they came."""

from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.simulation.feedback.feedback import Feedback


@final
@dataclass(frozen=True, eq=False, slots=True)
class Arrivals:
    """The rewards of one run in the order in which they are learned; all policies share it.

    After round ``t``, before the next decision, the rewards of the rounds ``order[: ends[t]]``
    are known. What never comes, or not before the run is over, is not among them. ``defaults``
    are the rewards that come in place of a round's own, nan where its own comes.
    """

    order: Places
    ends: Places
    defaults: Floats

    @classmethod
    def at_once(cls, rounds: int) -> "Arrivals":
        """Make the order of a run in which every reward is known before the next decision."""
        order = np.arange(rounds, dtype=np.int64)
        return cls(order, order + 1, np.full(rounds, np.nan))


def schedule_rewards(feedback: Feedback, delays: Floats, losses: Floats) -> Arrivals:
    """Work out when the rewards of one run come, from two uniform numbers for every round.

    Those of ``delays`` decide how late a reward is, those of ``losses`` whether it is missing.
    Rewards that are handed on at once come in the order in which they became known.

    >>> made = schedule_rewards(Feedback(delay=1, batch=2), np.zeros(6), np.ones(6))
    >>> made.order.tolist(), made.ends.tolist()
    ([0, 1, 2], [0, 1, 1, 3, 3, 3])
    """
    rounds = len(delays)
    late = feedback.draw_delays(delays)
    lost = losses < feedback.missing
    if feedback.window is not None:
        lost |= late > feedback.window
        late = np.where(lost, feedback.window, late)
    known = np.arange(rounds) + 1 + late
    handed = -(-known // feedback.batch) * feedback.batch
    comes = handed < rounds
    if feedback.default is None:
        comes &= ~lost
    defaults = np.where(lost, feedback.default or 0.0, np.nan)
    came = np.flatnonzero(comes)
    # By when they are handed on, then by when they became known, then by their rounds.
    order = came[np.lexsort((came, known[came], handed[came]))]
    ends = np.searchsorted(handed[order], np.arange(1, rounds + 1), side="right")
    return Arrivals(order.astype(np.int64), ends.astype(np.int64), defaults)

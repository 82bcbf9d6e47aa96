"""Delayed and missing rewards: when each reward of a run is learned, and in which order."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.core.names import unwrap_scalar
from boundit.counts.named_array import Floats
from boundit.simulation.options import LONGEST, read_number, read_whole, refuse

Ints: TypeAlias = NDArray[np.int64]
DelayFunction: TypeAlias = Callable[[Floats], Floats | Ints]
"""Turns uniform numbers from 0 to 1 into delays in rounds."""
_SUM = 1e-9


@final
@dataclass(frozen=True)
class Feedback:
    """Delayed and missing rewards of a simulation, for all policies alike.

    Parameters
    ----------
    delay : int, float, mapping or callable
        Rounds between a decision and its reward; with 0 it is learned before the next decision.
        A whole number, the mean of a geometric ``distribution``, a table of probabilities such
        as ``{0: 0.9, 200: 0.1}``, or a function that turns uniform numbers into delays, such as
        ``scipy.stats.poisson(20).ppf``.
    distribution : {"fixed", "geometric"}
        Distribution of a ``delay`` that is one number.
    window : int, optional
        A reward that is later than this never counts.
    missing : float
        Share of the rewards that never arrive.
    default_reward : float, optional
        What is learned in place of a missing reward when the ``window`` closes.
    batch : int
        Rewards that have arrived are handed on every ``batch`` rounds.

    Examples
    --------
    >>> Feedback(50, distribution="geometric", window=200, default_reward=0.0).window
    200
    """

    delay: float | Mapping[int, float] | DelayFunction = 0
    _: KW_ONLY
    distribution: Literal["fixed", "geometric"] = "fixed"
    window: int | None = None
    missing: float = 0.0
    default_reward: float | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        """Read every option."""
        if self.distribution not in ("fixed", "geometric"):
            raise refuse("distribution", self.distribution, "'fixed' or 'geometric'")
        found: dict[str, object] = {"delay": _read_delay(self.delay, self.distribution)}
        found["batch"] = read_whole("batch", self.batch, least=1)
        share = "a share of the rewards from 0 to 1"
        found["missing"] = read_number("missing", self.missing, share)
        if self.window is not None:
            found["window"] = read_whole("window", self.window, least=0)
        if self.default_reward is not None:
            found["default_reward"] = read_number(
                "default_reward", self.default_reward, "a number", least=-np.inf, most=np.inf
            )
            if self.window is None:
                raise refuse("window", None, "a number of rounds with default_reward")
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def draw_delays(self, uniforms: Floats) -> Ints:
        """Turn uniform numbers into delays in rounds.

        >>> Feedback({0: 0.5, 7: 0.5}).draw_delays(np.array([0.2, 0.49, 0.5])).tolist()
        [0, 0, 7]
        >>> geometric = Feedback(1.0, distribution="geometric")
        >>> geometric.draw_delays(np.array([0.4, 0.5, 0.8])).tolist()
        [0, 1, 2]
        """
        if callable(self.delay):
            return _read_drawn(self.delay(uniforms), uniforms)
        if isinstance(self.delay, Mapping):
            ends = np.cumsum(list(self.delay.values()))[:-1]
            rounds = np.array(list(self.delay), np.int64)
            return rounds.take(np.searchsorted(ends, uniforms, side="right"))
        if self.distribution == "fixed" or self.delay == 0:
            return np.full(uniforms.shape, self.delay, np.int64)
        # P(delay >= k) = q^k with mean q / (1 - q).
        found = np.log1p(-uniforms) / np.log(self.delay / (1.0 + self.delay))
        return np.asarray(np.minimum(found, LONGEST), np.int64)

    def to_record(self) -> dict[str, object]:
        """Write the options as an object for JSON; of a function, its name."""
        delay: object = self.delay
        if callable(self.delay):
            delay = f"function {getattr(self.delay, '__qualname__', repr(self.delay))}"
        elif isinstance(self.delay, Mapping):
            delay = {str(rounds): share for rounds, share in self.delay.items()}
        return {
            "delay": delay,
            "distribution": self.distribution,
            "window": self.window,
            "missing": self.missing,
            "default_reward": self.default_reward,
            "batch": self.batch,
        }


@final
@dataclass(frozen=True, eq=False, slots=True)
class Arrivals:
    """Rewards in the order in which they are learned, a row of each array for every run.

    After round ``t``, before the next decision, the rewards of the rounds ``order[: ends[t]]``
    have arrived. ``defaults`` are the rewards that replace a round's own, else nan.
    """

    order: Ints
    ends: Ints
    defaults: Floats


def schedule_rewards(feedback: Feedback, delays: Floats, losses: Floats) -> Arrivals:
    """Work out when rewards arrive, from two uniform numbers per run and round.

    Rewards that are handed on together are ordered by arrival, then by round.

    >>> found = schedule_rewards(Feedback(1, batch=2), np.zeros((1, 6)), np.ones((1, 6)))
    >>> found.order[0, :3].tolist(), found.ends[0].tolist()
    ([0, 1, 2], [0, 1, 1, 3, 3, 3])
    """
    runs, rounds = delays.shape
    late = feedback.draw_delays(delays)
    lost = losses < feedback.missing
    if feedback.window is not None:
        lost |= late > feedback.window
        late = np.where(lost, feedback.window, late)
    known = np.arange(rounds) + 1 + late
    handed = -(-known // feedback.batch) * feedback.batch
    comes = handed < rounds
    replaced = 0.0 if feedback.default_reward is None else feedback.default_reward
    if feedback.default_reward is None:
        comes &= ~lost
    order = np.zeros((runs, rounds), np.int64)
    ends = np.zeros((runs, rounds), np.int64)
    for run in range(runs):
        came = np.flatnonzero(comes[run])
        came = came[np.lexsort((came, known[run, came], handed[run, came]))]
        order[run, : came.size] = came
        ends[run] = np.searchsorted(handed[run, came], np.arange(1, rounds + 1), side="right")
    return Arrivals(order, ends, np.where(lost, replaced, np.nan))


def _read_delay(
    delay: object, distribution: str
) -> float | Mapping[int, float] | DelayFunction:
    delay = unwrap_scalar(delay)
    if distribution == "geometric":
        expected = "a mean delay of 0 or more for a geometric distribution"
        return read_number("delay", delay, expected, most=LONGEST)
    if callable(delay):
        return delay
    if isinstance(delay, Mapping):
        found = dict[int, float]()
        for rounds, share in delay.items():
            number = read_whole("delay", unwrap_scalar(rounds), least=0)
            found[number] = read_number("delay", share, "a table of probabilities")
        if abs(sum(found.values()) - 1) > _SUM:
            raise refuse("delay", str(dict(delay)), "probabilities that add up to 1")
        return dict(sorted(found.items()))
    whole = isinstance(delay, int) and not isinstance(delay, bool)
    if not whole or not 0 <= delay <= LONGEST:  # type: ignore[operator]
        raise refuse(
            "delay",
            delay,
            "a number of rounds, a table such as {0: 0.9, 200: 0.1}, or a function",
        )
    return delay  # type: ignore[return-value]


def _read_drawn(found: object, uniforms: Floats) -> Ints:
    """Read the delays of a user's function: a whole number for each uniform."""
    numbers = np.asarray(found)
    expected = "a function that returns a whole number of rounds for each uniform number"
    if numbers.shape != uniforms.shape or numbers.dtype.kind not in "iuf":
        raise refuse("delay", f"{numbers.dtype} of shape {numbers.shape}", expected)
    wrong = ~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise refuse("delay", numbers[wrong].flat[0].item(), expected)
    return np.asarray(np.minimum(numbers, LONGEST), np.int64)

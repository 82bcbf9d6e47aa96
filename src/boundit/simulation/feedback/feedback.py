"""What a simulated service hears of its rewards: how late they come, and whether."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from boundit.bandit.errors import BadOption
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.terms.scalars import unwrap_scalar

DelayFunction: TypeAlias = Callable[[Floats], Floats | Places]
"""Gives the delays, in rounds, that belong to uniform numbers from 0 to 1."""
DelayLaw: TypeAlias = Literal["fixed", "geometric"]
_LONGEST = 2**31
"""A delay as long as the longest simulation: it never comes."""
_SUM = 1e-9


@final
@dataclass(frozen=True)
class Feedback:
    """How rewards come back to policies: some rounds late, in batches, or never.

    ``delay`` is by how many rounds a reward is late; without it, it is learned before the next
    decision. It is a whole number; the mean of a geometric ``law``; a table of chances, such as
    ``{0: 0.9, 200: 0.1}``; or a function that turns uniform numbers from 0 to 1 into delays,
    such as ``scipy.stats.poisson(20).ppf``. A reward that is later than ``window`` rounds never
    counts, and a share ``missing`` of the rewards never comes; the ``default`` reward is
    learned in their place when the window ends, or nothing if it is None. With a ``batch`` of
    n, what came is handed on every n rounds, so that policies change no more often. Other
    variables that a round shows come with its reward, a default comes alone.

    >>> Feedback(delay=50, law="geometric", window=200, default=0.0, batch=100).window
    200
    """

    delay: float | Mapping[int, float] | DelayFunction = 0
    law: DelayLaw = "fixed"
    window: int | None = None
    missing: float = 0.0
    default: float | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        if self.law not in ("fixed", "geometric"):
            raise BadOption("law", "'fixed' or 'geometric'", self.law)
        for name in ("window", "missing", "default", "batch"):
            object.__setattr__(self, name, unwrap_scalar(getattr(self, name)))
        object.__setattr__(self, "delay", _read_delay(self.delay, self.law))
        if self.window is not None:
            _require_whole("window", self.window, least=0)
        _require_whole("batch", self.batch, least=1)
        _require_share("missing", self.missing, "a share of the rewards from 0 to 1")
        if self.default is not None:
            _require_share("default", self.default, "None or a reward from 0 to 1")
            if self.window is None:
                raise BadOption("window", "a number of rounds, where there is a default", None)

    def draw_delays(self, uniforms: Floats) -> Places:
        """Turn uniform numbers into delays in rounds, by the law of the delays.

        >>> Feedback(delay={0: 0.5, 7: 0.5}).draw_delays(np.array([0.2, 0.49, 0.5])).tolist()
        [0, 0, 7]
        >>> Feedback(delay=1.0, law="geometric").draw_delays(np.array([0.4, 0.5, 0.8])).tolist()
        [0, 1, 2]
        """
        if callable(self.delay):
            return _read_drawn(self.delay(uniforms), uniforms)
        if isinstance(self.delay, Mapping):
            ends = np.cumsum(list(self.delay.values()))[:-1]
            rounds = np.array(list(self.delay), np.int64)
            return rounds.take(np.searchsorted(ends, uniforms, side="right"))
        if self.law == "fixed" or self.delay == 0:
            return np.full(uniforms.shape, self.delay, np.int64)
        # Delays of k rounds or more have the chance q^k, and the mean is q / (1 - q).
        found = np.log1p(-uniforms) / np.log(self.delay / (1.0 + self.delay))
        return np.asarray(np.minimum(found, _LONGEST), np.int64)

    def to_record(self) -> dict[str, object]:
        """Write the options for JSON; of a user's own function, its name."""
        delay: object = self.delay
        if callable(self.delay):
            delay = f"function {getattr(self.delay, '__qualname__', repr(self.delay))}"
        elif isinstance(self.delay, Mapping):
            delay = {str(rounds): chance for rounds, chance in self.delay.items()}
        return {
            "delay": delay,
            "law": self.law,
            "window": self.window,
            "missing": self.missing,
            "default": self.default,
            "batch": self.batch,
        }


def _read_delay(delay: object, law: DelayLaw) -> float | Mapping[int, float] | DelayFunction:
    """Read a delay as the law takes it, or refuse it in one line."""
    delay = unwrap_scalar(delay)
    is_flag = isinstance(delay, bool)
    if law == "geometric":
        if is_flag or not isinstance(delay, int | float) or not 0 <= delay <= _LONGEST:
            raise BadOption("delay", "the mean of a geometric law, 0 or more", delay)
        return float(delay)
    if callable(delay):
        return delay
    if isinstance(delay, Mapping):
        return _read_table(delay)
    expected = "a number of rounds, a table such as {0: 0.9, 200: 0.1}, or a function"
    if is_flag or not isinstance(delay, int) or not 0 <= delay <= _LONGEST:
        raise BadOption("delay", expected, delay)
    return delay


def _read_table(table: Mapping[object, object]) -> dict[int, float]:
    """Read a table of chances of delays, in the order of the delays."""
    found = dict[int, float]()
    for rounds, chance in (map(unwrap_scalar, entry) for entry in table.items()):
        _require_whole("a delay of the table", rounds, least=0, option="delay")
        _require_share(f"delay[{rounds}]", chance, "a chance from 0 to 1", option="delay")
        found[int(rounds)] = float(chance)  # type: ignore[call-overload, arg-type]
    if abs(sum(found.values()) - 1) > _SUM:
        expected = "a table of chances that add up to 1"
        raise BadOption("delay", expected, dict(table))
    return dict(sorted(found.items()))


def _read_drawn(found: object, uniforms: Floats) -> Places:
    """Read the delays that a user's function gave: one for each number, whole, 0 or more."""
    numbers = np.asarray(found)
    expected = "a function that gives a whole number of rounds, 0 or more, for each number"
    if numbers.shape != uniforms.shape or numbers.dtype.kind not in "iuf":
        raise BadOption("delay", expected, f"{numbers.dtype} of shape {numbers.shape}")
    wrong = ~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise BadOption("delay", expected, numbers[wrong].flat[0].item())
    return np.asarray(np.minimum(numbers, _LONGEST), np.int64)


def _require_whole(name: str, value: object, *, least: int, option: str | None = None) -> None:
    """Refuse an option that is no whole number from ``least`` on."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not least <= value <= _LONGEST:  # type: ignore[operator]
        raise BadOption(name, f"a whole number, {least} or more", value, option=option)


def _require_share(
    name: str, value: object, expected: str, *, option: str | None = None
) -> None:
    """Refuse an option that is no number from 0 to 1."""
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits or not 0 <= value <= 1:  # type: ignore[operator]
        raise BadOption(name, expected, value, option=option)

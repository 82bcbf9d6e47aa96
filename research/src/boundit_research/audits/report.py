"""What all audits share: a report that says what it found, and claims that may fail at times."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeVar

from scipy.special import bdtrc

T = TypeVar("T")
FALSE_ALARM = 0.001
"""The probability that an audit of valid claims blames them."""


@dataclass
class Report:
    """What an audit found, and the seed that repeats it; false where something is wrong.

    ``unit`` is what ``models`` counts.
    """

    seed: int
    models: int = 0
    unit: ClassVar[str] = "models"

    def record(self) -> dict[str, Any]:
        """All that was found, for JSON."""
        return asdict(self)


def judge_each(
    report: Report,
    items: Iterable[T],
    judge: Callable[[T], None],
    progress: Callable[[int], None],
) -> None:
    """Judge one problem after another; a Ctrl-C ends the audit with what is done."""
    try:
        for item in items:
            judge(item)
            report.models += 1
            progress(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise


@dataclass
class Claims:
    """Claims by drawn logs: how many, those that failed, and how many may fail on average."""

    made: int = 0
    failed: int = 0
    allowed: float = 0.0

    def count(self, confidence: float | None, *, failed: bool) -> None:
        """Count a claim of a confidence."""
        self.made += 1
        self.failed += failed
        self.allowed += 1 - (confidence or 0.0)

    @property
    def chance(self) -> float:
        """The probability of as many failures if claims fail as often as they may.

        The binomial distribution with the mean error has the heavier tail (Hoeffding).
        """
        if not self.failed:
            return 1.0
        return float(bdtrc(self.failed - 1, self.made, self.allowed / self.made))

    def __bool__(self) -> bool:
        """True when no more failed than may, beyond chance."""
        return self.chance >= FALSE_ALARM

    def __str__(self) -> str:
        """Say how many failed of how many."""
        return (
            f"{self.failed:,} of {self.made:,}, {self.allowed:.0f} allowed "
            f"(probability {self.chance:.2g})"
        )

"""Why an end is what it is: a sum of what was observed, or who attains it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from boundit.terms.names import Nodes

Place: TypeAlias = tuple[int, ...]


def fit_place(place: Sequence[int], shape: Sequence[int]) -> Place:
    """Fit the place of a row to the shape of an array: 0 along axes of length 1."""
    return tuple(0 if n == 1 else int(i) for i, n in zip(place, shape, strict=True))


@dataclass(frozen=True, eq=False)
class EndProof:
    """An end as a sum: a constant, and how often each observed probability counts.

    A term is a multiplier, the levels of ``of`` and of what is given, and the probability.
    """

    of: Nodes
    constant: float
    terms: tuple[tuple[float, Mapping[str, int], float], ...]

    @property
    def value(self) -> float:
        """What the sum comes to, within 0 and 1."""
        total = self.constant + sum(times * value for times, _, value in self.terms)
        return min(max(total, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row: its share of everyone, its share of the log, what stops it."""

    levels: Mapping[str, int]
    share: float
    logged: float
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class WorstPopulation:
    """The population that attains an end, by the kinds of rows that steer selection."""

    kinds: tuple[RowKind, ...]
    n_more: int = 0


@dataclass(frozen=True, slots=True)
class ArmShare:
    """Who got an arm at some levels of covariates: the chance of each treatment, their mean."""

    levels: Mapping[str, int]
    chances: Mapping[str, float]
    mean: float


@dataclass(frozen=True, slots=True)
class TiltedProof:
    """What an end was made from where others may differ from those with the arm by limits."""

    limits: tuple[float, ...]
    shares: tuple[ArmShare, ...]


@dataclass(frozen=True, slots=True)
class ModelProof:
    """What models predict of a mean, how rows correct it, and where the arm is too rare."""

    predicted: float
    correction: float
    unlikely: float
    upper: bool

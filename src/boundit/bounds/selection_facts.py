"""What a user may know about who was logged, checked before any row is read.

Let ``r = P(S=1) / P(S=1 | m)`` say how much rarer a kind ``m`` of row is in the log than in the
population. It averages to one over the log, and it is never below ``P(S=1)``, since no probability
is above one. A selection rate therefore bounds ``r`` from below, of a range only its lower end
does, and a limit ``G`` states ``1/G <= r <= G`` outright.
"""

from dataclasses import dataclass
from math import inf, isnan
from typing import Self, TypeGuard

from boundit.core.errors import BounditError, OptionError
from boundit.core.message import Option
from boundit.graph.causal_graph import CausalGraph


class FactsRefuted(BounditError):
    """Facts about selection that no population could show together with this log."""

    def __init__(self, stated: str) -> None:
        self.stated = stated
        super().__init__(
            f"no population fits the log together with what is stated ({stated}); "
            "one of these, the graph or a table is wrong"
        )


@dataclass(frozen=True, slots=True)
class SelectionFacts:
    """A range for the selection rate, and a limit on how far the log may be from everyone.

    >>> SelectionFacts.from_options(selection_rate=0.4, selection_limit=None)
    SelectionFacts(rate=(0.4, 0.4), limit=None)
    >>> print(SelectionFacts.from_options(selection_rate=(0.3, 0.6), selection_limit=2))
    r >= 0.3 (selection rate), 1/2 <= r <= 2 (selection limit)
    """

    rate: tuple[float, float] | None = None
    limit: float | None = None

    @classmethod
    def from_options(cls, *, selection_rate: object, selection_limit: object) -> Self:
        """Read the options ``selection_rate`` and ``selection_limit``; impossible ones are refused.

        ``selection_limit=inf`` says only that no kind of row is sure to be left out.
        """
        return cls(_read_rate(selection_rate), _read_limit(selection_limit))

    def __bool__(self) -> bool:
        """True when something is known."""
        return self.rate is not None or self.limit is not None

    def __str__(self) -> str:
        said = []
        if self.rate is not None:
            said.append(f"r >= {self.rate[0]:g} (selection rate)")
        if self.limit == inf:
            said.append("r is finite (selection limit)")
        elif self.limit is not None:
            said.append(f"1/{self.limit:g} <= r <= {self.limit:g} (selection limit)")
        return ", ".join(said) or "nothing is known of r"

    @property
    def least_ratio(self) -> float:
        """The least weight ``r`` of a kind of row, by selection rate and selection limit.

        ``r`` is its share of everyone over its share of the log.
        """
        rate = self.rate[0] if self.rate is not None else 0.0
        return max(rate, 1 / self.limit if self.limit is not None else 0.0)

    def find_greatest_share(self, share: float) -> float:
        """Find how large a part of everyone a kind of row with this share of the log can be.

        Infinite without a selection limit.
        """
        if self.limit is None:
            return inf
        return self.limit * share if share > 0 else 0.0

    def require_in(self, graph: CausalGraph) -> None:
        """Raise when facts are stated but the graph has no selection node."""
        if self and graph.selection is None:
            raise OptionError(
                "the graph has no selection node, so ",
                Option("selection_rate"),
                " and ",
                Option("selection_limit"),
                " say nothing; draw one, as in 'X -> [S]', or leave them out",
            )


NOTHING_KNOWN = SelectionFacts()


def _read_rate(given: object) -> tuple[float, float] | None:
    """Read the option ``selection_rate``, a probability or a range, as a range; None stays None."""
    if given is None:
        return None
    pair = tuple(given) if isinstance(given, tuple | list) else (given, given)
    numbers = [end for end in pair if _is_number(end)]
    if len(numbers) != 2 or len(pair) != 2 or not 0 <= numbers[0] <= numbers[1] <= 1:
        raise OptionError(
            Option("selection_rate"),
            f" must be a probability such as 0.4 or a range such as (0.3, 0.6), found {given!r}",
        )
    low, high = map(float, numbers)
    if high == 0:
        raise OptionError(
            Option("selection_rate"), " is 0, yet rows were logged; give the share of rows"
        )
    return low, high


def _read_limit(given: object) -> float | None:
    """Read the option ``selection_limit``, a limit of at least 1; None stays None."""
    if given is None:
        return None
    if not _is_number(given) or not float(given) >= 1:
        raise OptionError(
            Option("selection_limit"),
            f" must be a limit of at least 1, as in 1/G <= r <= G, found {given!r}",
        )
    return float(given)


def _is_number(given: object) -> TypeGuard[float]:
    """Tell whether an option is a number, and neither a truth value nor nan."""
    return isinstance(given, int | float) and not isinstance(given, bool) and not isnan(given)

"""Tables of bounds of one question under growing limits, the log counted once.

What holds under a limit holds under every smaller one. So each number that is larger the
better a claim holds is taken as the greatest of those at this limit and at larger ones that
were looked at: the way a confidence shares its error out may make the table of one limit wider
than that of a larger one.
"""

from dataclasses import dataclass, field, replace
from math import inf

from boundit.bounds.confounding_limits import ConfoundingLimits
from boundit.bounds.count import KeptCounts
from boundit.bounds.derive import derive_table
from boundit.bounds.request import BoundRequest
from boundit.bounds.selection_facts import FactsRefuted, SelectionFacts
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.core.errors import OptionError
from boundit.core.long_work import Progress, TimeBudget, say_nothing
from boundit.decisions.breakdown.claims import Claim
from boundit.results.bound_table import BoundTable

SELECTION = "selection"
"""What is limited by the selection limit G, instead of an edge."""


@dataclass(eq=False)
class LimitedTables:
    """Tables under limits on one edge, or on selection, each derived once.

    A limit that the log contradicts has None for a table. The time of the request is for all
    of them: what it ends early is wider, so that claims are proved up to a smaller limit.
    """

    request: BoundRequest
    of: str
    progress: Progress = say_nothing
    kept: KeptCounts = field(default_factory=dict)
    tables: dict[float, BoundTable | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.budget = TimeBudget(self.request.time_limit)

    @classmethod
    def read(
        cls, request: BoundRequest, of: str, progress: Progress = say_nothing
    ) -> "LimitedTables":
        """Check what is limited: an edge that hides a cause, or selection."""
        if of == SELECTION:
            request.with_sensitivity(1.0)
            return cls(request, of, progress)
        if not isinstance(of, str):
            raise OptionError(
                f"of must be an edge such as 'X <-> Y', or {SELECTION!r}, found {of!r}"
            )
        (edge,) = ConfoundingLimits.from_option({of: 1}, request.graph, option="of").by_edge
        return cls(request, edge, progress)

    @property
    def stated(self) -> float:
        """The limit that the request itself states, under which today's choice is made; else 1."""
        if self.of == SELECTION:
            return self.request.facts.limit or 1.0
        return self.request.limits.by_edge.get(self.of, 1.0)

    def find(self, limit: float) -> BoundTable | None:
        """Find the table under a limit, infinite for none; None where the log contradicts it."""
        if limit not in self.tables:
            self.progress(f"bound under the limit {limit:.4g}", len(self.tables), 0)
            try:
                request = replace(self.limit(limit), time_limit=self.budget.count_seconds())
                self.tables[limit] = derive_table(request, self.kept)
            except (EndsCross, FactsRefuted, NoModelFits):
                self.tables[limit] = None
        return self.tables[limit]

    def limit(self, limit: float) -> BoundRequest:
        """Make the request under a limit, infinite for none."""
        if self.of != SELECTION:
            return self.request.with_confounding(self.of, limit)
        if limit == inf:
            return replace(self.request, facts=SelectionFacts(self.request.facts.rate))
        return self.request.with_sensitivity(limit)


@dataclass(eq=False)
class LimitedClaim:
    """A claim, and the numbers that say at limits how far it is from falling."""

    tables: LimitedTables
    claim: Claim
    numbers: dict[float, float] = field(default_factory=dict)

    def measure(self, limit: float) -> float:
        """Measure a claim under a limit: the greatest of its numbers from there on.

        A limit that the log contradicts proves everything.
        """
        if limit not in self.numbers:
            table = self.tables.find(limit)
            self.numbers[limit] = inf if table is None else self.claim.measure(table)
        return max(number for at, number in self.numbers.items() if at >= limit)

    def is_proved(self, limit: float) -> bool:
        """Tell whether a claim is proved under a limit."""
        return self.claim.is_proved(self.measure(limit))

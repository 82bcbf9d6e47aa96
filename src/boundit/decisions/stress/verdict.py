"""Two policies whose comparison is asked again under every larger graph."""

from dataclasses import dataclass
from typing import final

from boundit.bounds.request import BoundRequest
from boundit.core.errors import BounditError
from boundit.core.long_work import TimeBudget
from boundit.core.message import Option
from boundit.decisions.compare.compare import compare
from boundit.decisions.compare.comparison import Comparison
from boundit.decisions.compare.measured import Logged
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound_table import BoundTable

BESIDE = 0.99
"""The confidence of what is read beside the bounds, as ``compare`` has it by itself."""


class OnePolicy(BounditError):
    """A new policy without an old one to compare it with, or the other way round."""


@final
@dataclass(frozen=True, eq=False)
class ComparedPolicies:
    """The new and the old policy, and how often contexts come, as ``compare`` takes them."""

    new: object
    old: object
    contexts: object = None

    @classmethod
    def read(cls, new: object, old: object, contexts: object) -> "ComparedPolicies | None":
        """Read the options of ``stress``: both policies or none."""
        if new is None and old is None:
            if contexts is not None:
                raise OnePolicy(
                    Option("contexts"), " has a meaning with ", Option("new"), " and ",
                    Option("old"), " only",
                )  # fmt: skip
            return None
        if new is None or old is None:
            named = Option("new" if new is not None else "old")
            raise OnePolicy(named, " is compared with another policy; give both")
        return cls(new, old, contexts)

    def ask(
        self, table: BoundTable, graph: CausalGraph, request: BoundRequest, budget: TimeBudget
    ) -> Comparison:
        """Compare both policies by the bounds of a graph.

        What the log did is asked of the log again, under that graph.
        """
        beside = None if request.confidence is None else BESIDE
        if not self._asks_log:
            return compare(table, self.new, self.old, contexts=self.contexts, confidence=beside)
        return compare(
            table,
            self.new,
            self.old,
            contexts=self.contexts,
            log=request.log,
            graph=graph,
            confidence=beside,
            external=request.external,
            selection_rate=request.facts.rate,
            selection_limit=request.facts.limit,
            time_limit=budget.count_seconds(),
            memory_limit=request.memory_limit,
        )

    @property
    def _asks_log(self) -> bool:
        """Whether the log itself is needed: for what it did, or for its shares of contexts."""
        named = (self.new, self.old, self.contexts)
        return any(
            isinstance(one, Logged) or (isinstance(one, str) and one == "log") for one in named
        )

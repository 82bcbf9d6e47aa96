"""Two policies whose comparison is asked again under every larger graph."""

from dataclasses import dataclass, replace
from typing import final

from boundit.bounds.request import BoundRequest
from boundit.core.errors import BounditError
from boundit.core.long_work import TimeBudget
from boundit.core.message import Option
from boundit.decisions.compare import Comparison, compare_by
from boundit.decisions.policies import Logged
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound_table import BoundTable


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
        shares = "any" if self.contexts is None else self.contexts
        if not self._asks_log:
            return compare_by(table, self.new, self.old, shares=shares)
        asked = replace(request.under(graph), time_limit=budget.count_seconds())
        return compare_by(
            table, self.new, self.old, shares=shares, log=request.log, request=asked
        )

    @property
    def _asks_log(self) -> bool:
        """Whether the log itself is needed: for what it did, or for its shares of contexts."""
        named = (self.new, self.old, self.contexts)
        return any(
            isinstance(one, Logged) or (isinstance(one, str) and one == "log") for one in named
        )

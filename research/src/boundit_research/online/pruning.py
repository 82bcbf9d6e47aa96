"""How many arms bounds rule out: one by one, jointly, and with the selection rate known.

The paper counts arms whose upper end lies below the best mean (N_pcb), which nobody knows
beforehand. Lower ends rule arms out without it, and so do differences of arms under one shared
unknown.
"""

from dataclasses import dataclass

from boundit.bounds.derive import derive_bounds
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit_research.theory import count_ruled_out


@dataclass(frozen=True, slots=True)
class PrunedPairs:
    """Pairs of arm and context ruled out, of how many, by what."""

    by: str
    pairs: int
    of: int


def count_pruned(world: Environment) -> tuple[PrunedPairs, ...]:
    """Count the pairs of arm and context that bounds of a world's exact law rule out.

    Four counts: by the best mean, by other intervals, by contrasts, and with the selection rate
    known.

    >>> from boundit.simulation.environments import paper_environment
    >>> [found.pairs for found in count_pruned(paper_environment())]
    [8, 0, 8, 12]
    """
    asked, log, means = (world.graph, world.query), world.exact_log(), world.means()
    free = derive_bounds(*asked, log, confidence=None)
    rate = world.model.selection_rate()
    known = derive_bounds(*asked, log, confidence=None, selection_rate=rate)
    of = len(free.bounds)
    return (
        PrunedPairs("upper end below the best mean (N_pcb)", count_ruled_out(free, means), of),
        PrunedPairs(
            "upper end below another's lower end",
            _count_dominated_pairs(free.intervals_only()),
            of,
        ),
        PrunedPairs(
            "another earns more under one shared unknown", _count_dominated_pairs(free), of
        ),
        PrunedPairs("the same, the selection rate known", _count_dominated_pairs(known), of),
    )


def _count_dominated_pairs(table: BoundTable) -> int:
    """Count the pairs of arm and context in which another arm surely earns more."""
    return sum(len(table.ruled_out(context)) for context in table.contexts)

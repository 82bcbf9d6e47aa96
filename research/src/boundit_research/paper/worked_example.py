"""The paper's worked example on Figure 2, recomputed: what the text says, and what is so."""

from dataclasses import dataclass

from boundit.core.names import join_names, sort_names
from boundit.estimand.factors import factorize, recover_factor
from boundit.estimand.identify import identify
from boundit.estimand.substitutes import find_substitutes
from boundit.simulation.environments import paper_environment


@dataclass(frozen=True, slots=True)
class ExampleClaim:
    """A sentence of the paper beside what the graph says."""

    place: str
    printed: str
    found: str
    holds: bool


def check_worked_example() -> tuple[ExampleClaim, ...]:
    """Check what the paper says of its worked example, on the paper's own graph.

    Gives four sentences, each with what the graph says and whether they agree.

    >>> [claim.holds for claim in check_worked_example()]
    [False, False, False, False]
    """
    world = paper_environment()
    graph, query = world.graph, world.query
    wanted = frozenset(query.outcomes + query.context)
    whole = factorize(graph, outcomes=wanted, treatments=frozenset(query.treatments))
    lost = [join_names(part) for part in whole.parts if not recover_factor(part, graph)]
    roles = {
        "outcomes": query.outcomes,
        "treatments": query.treatments,
        "context": query.context,
    }
    printed = find_substitutes(graph, **roles, form="paper")  # type: ignore[arg-type]
    observed = find_substitutes(graph, **roles, form="conditioning")  # type: ignore[arg-type]
    base = identify(graph, "U1, U2")
    return (
        ExampleClaim(
            "worked example, D",
            "{Y, U1, U2}",
            f"{{{join_names(whole.relevant)}}}",
            not whole.summed,
        ),
        ExampleClaim(
            "worked example, c-factors",
            "RC* bounds Q[Y], Q[U1], Q[U2]",
            f"nothing is known of {' and '.join(f'Q[{part}]' for part in lost)}: [0, 1]",
            not lost,
        ),
        ExampleClaim(
            "worked example, substitutes",
            "FindRSI returns {I1}",
            f"FindRSI returns {_list_substitute_sets(printed)}; "
            f"observing {_list_substitute_sets(observed)} brackets",
            bool(len(printed)),
        ),
        ExampleClaim("eq. 6, P(u1, u2)", "always identifiable", str(base), bool(base)),
    )


def _list_substitute_sets(found: object) -> str:
    """Write the variables of each substitute intervention that was found, as ``{W}, {Z}``.

    A substitute is an intervention on other variables that bounds the effect asked for.
    """
    sets = [f"{{{join_names(sort_names(s.variables))}}}" for s in found]  # type: ignore[attr-defined]
    return ", ".join(sets) or "nothing"

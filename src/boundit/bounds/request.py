"""What is asked, checked against the graph once, before any row is read."""

from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.graph.read import require_graph
from boundit.terms.bound import MEASURES
from boundit.terms.bound_errors import ReservedName
from boundit.terms.errors import InvalidQuery
from boundit.terms.names import sort_names


class NotABanditQuestion(InvalidQuery):
    """A query that no arm and context answer."""


def read_bandit_query(graph: CausalGraph, query: EffectQuery | str) -> EffectQuery:
    """Check that a query asks for one reward, under arms, in contexts known beforehand.

    Called by ``BoundDerivation`` and the baselines before any row is read.
    """
    require_graph(graph)
    asked = query if isinstance(query, EffectQuery) else parse_query(query)
    asked.require_in(graph)
    if len(asked.outcomes) != 1:
        shown = ", ".join(asked.outcomes)
        raise NotABanditQuestion(f"bounds are for one reward, found {shown}; ask for one")
    if not asked.treatments:
        raise NotABanditQuestion(f"{asked} has no treatment; write the arms as do(...)")
    for name in asked.treatments + asked.context:
        if name in MEASURES:
            raise ReservedName(name, MEASURES)
    late = graph.descendants(asked.treatments).intersection(asked.context)
    if late:
        raise NotABanditQuestion(
            f"the context {sort_names(late)[0]!r} is an effect of the treatments; "
            "a context is known before the arm is chosen"
        )
    return asked


def hide_reward(graph: CausalGraph, outcome: str) -> CausalGraph:
    """Redraw the graph for the success that stands for a reward that is no 0/1 variable.

    The success follows the reward and causes nothing; the reward itself is then hidden. Where
    the reward causes nothing either, the graph stays as it is. Called by
    ``BoundDerivation.bound``.

    >>> from boundit.graph.text import parse
    >>> print(hide_reward(parse("X -> Y -> [S]"), "Y"))
    X -> [S]; X -> Y; [S] <-> Y
    """
    if not graph.links[outcome].children:
        return graph
    hidden = f"{outcome} itself"
    names = {outcome: hidden}
    drawn = CausalGraph.of(
        [names.get(n, n) for n in graph.nodes],
        directed=[
            *((names.get(a, a), names.get(b, b)) for a, b in graph.directed),
            (hidden, outcome),
        ],
        bidirected=[(names.get(a, a), names.get(b, b)) for a, b in graph.bidirected],
        selection=graph.selection,
    )
    return project(drawn, hidden)

"""From a causal graph and a biased log: bounds on what each arm would earn, with their reasons.

The public names load their room when first used, so that ``import boundit`` and
``boundit --help`` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boundit.estimand.query import EffectQuery as EffectQuery
    from boundit.estimand.query import parse_query as parse_query
    from boundit.graph.causal_graph import CausalGraph as CausalGraph
    from boundit.graph.implications import Independence as Independence
    from boundit.graph.implications import implications as implications
    from boundit.graph.nx import from_networkx as from_networkx
    from boundit.graph.nx import to_networkx as to_networkx
    from boundit.graph.projection import project as project
    from boundit.graph.read import format_graph as format_graph
    from boundit.graph.read import parse_graph as parse_graph
    from boundit.graph.read import read_graph as read_graph
    from boundit.graph.separation import open_walk as open_walk
    from boundit.graph.separators import minimal_separator as minimal_separator
    from boundit.graph.separators import nearest_separator as nearest_separator
    from boundit.terms.errors import BounditError as BounditError
    from boundit.terms.verdict import Verdict as Verdict

__version__ = "0.1.0.dev0"

_HOMES = {
    "BounditError": "terms.errors",
    "CausalGraph": "graph.causal_graph",
    "EffectQuery": "estimand.query",
    "Independence": "graph.implications",
    "Verdict": "terms.verdict",
    "format_graph": "graph.read",
    "from_networkx": "graph.nx",
    "implications": "graph.implications",
    "minimal_separator": "graph.separators",
    "nearest_separator": "graph.separators",
    "open_walk": "graph.separation",
    "parse_graph": "graph.read",
    "parse_query": "estimand.query",
    "project": "graph.projection",
    "read_graph": "graph.read",
    "to_networkx": "graph.nx",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605, one list of names, kept once


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'boundit' has no attribute {name!r}")
    return getattr(import_module(f"boundit.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

r"""Limits on hidden confounding, checked before any row is read.

An edge ``X <-> Y`` stands for something unseen, ``U``, that moves both. A limit ``L`` on it
states of every level ``x``, of all that was observed before it, ``v``, and of every ``u``

.. math:: 1/L \le \frac{P(x \mid v, u)}{1 - P(x \mid v, u)} \Big/
          \frac{P(x \mid v)}{1 - P(x \mid v)} \le L

the marginal sensitivity model. Where ``v`` without some of its variables tells no less of
``u``, the limit holds given the rest too: a mean of probabilities whose odds are at most ``L``
times others has odds of at most ``L`` times those of their mean, as ``L p / (1 + (L - 1) p)`` is
concave in ``p``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Self

from boundit.core.errors import GraphError, OptionError, shorten
from boundit.core.message import Option
from boundit.core.names import write_name
from boundit.graph.causal_graph import CausalGraph, Edge
from boundit.graph.text import parse


@dataclass(frozen=True, slots=True)
class ConfoundingLimits:
    """Edges ``X <-> Y``, and by which factor their unseen cause may move the odds of an arm.

    >>> graph = parse("X -> Y; X <-> Y")
    >>> limits = ConfoundingLimits.from_option({"Y <-> X": 2}, graph)
    >>> limits.by_edge, limits.find("X", "Y"), limits.find("X", "Z")
    ({'X <-> Y': 2.0}, 2.0, None)
    """

    entries: tuple[tuple[Edge, float], ...] = ()

    @classmethod
    def from_option(
        cls, given: object, graph: CausalGraph, *, option: str = "confounding_limit"
    ) -> Self:
        """Read the option ``confounding_limit``, a limit of at least 1 for each edge; None is none.

        An edge is written as in a graph; ``option`` is what errors name.
        """
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise OptionError(
                Option("confounding_limit"),
                f" must be a mapping such as {{'X <-> Y': 1.5}}, found "
                f"{shorten(repr(given), 40)}",
            )
        found = dict[Edge, float]()
        for name, limit in given.items():
            edge = _read_edge(name, graph, option)
            if edge in found:
                raise OptionError(
                    Option("confounding_limit"),
                    f" has two limits on {name_edge(edge)}; one is enough",
                )
            found[edge] = _read_limit(edge, limit)
        return cls(tuple(sorted(found.items())))

    def __bool__(self) -> bool:
        """True when some edge has a limit."""
        return bool(self.entries)

    def find(self, one: str, other: str) -> float | None:
        """Find the limit on the edge between two variables; None where it has none."""
        return dict(self.entries).get((one, other) if one <= other else (other, one))

    @property
    def by_edge(self) -> dict[str, float]:
        """The limits by the edges as text, as the option had them and tables keep them."""
        return {name_edge(edge): limit for edge, limit in self.entries}


NO_LIMITS = ConfoundingLimits()


def name_edge(edge: Edge) -> str:
    """Write a bidirected edge as graph text has it."""
    return " <-> ".join(map(write_name, edge))


def describe_limit(treatment: str, edge: Edge, limit: float) -> str:
    """Say in words what a limit on the confounding of a treatment assumes.

    >>> print(describe_limit("X", ("X", "Y"), 1.5))
    the unseen cause in X <-> Y moves the odds of each X by a factor of at most 1.5
    """
    return (
        f"the unseen cause in {name_edge(edge)} moves the odds of each {treatment} "
        f"by a factor of at most {limit:g}"
    )


def _read_edge(name: object, graph: CausalGraph, option: str) -> Edge:
    """Read a bidirected edge from text; one that the graph lacks is refused."""
    drawn = sorted(graph.bidirected)
    try:
        edges = parse(name).bidirected if isinstance(name, str) else frozenset[Edge]()
        is_edge = len(edges) == 1 and isinstance(name, str) and not parse(name).directed
    except GraphError:
        edges, is_edge = frozenset[Edge](), False
    if not is_edge:
        raise OptionError(
            Option(option),
            f" must name an edge such as 'X <-> Y', found {shorten(repr(name), 40)}",
        )
    (edge,) = edges
    if edge not in graph.bidirected:
        has = f"it has {shorten(', '.join(map(name_edge, drawn)))}" if drawn else "it has none"
        raise OptionError(
            Option(option),
            f" limits {name_edge(edge)}, an edge that the graph lacks; {has}",
        )
    return edge


def _read_limit(edge: Edge, given: object) -> float:
    """Read the limit on an edge: a finite number of at least 1."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not isfinite(float(given)) or float(given) < 1:  # type: ignore[arg-type]
        raise OptionError(
            Option("confounding_limit"),
            f" of {name_edge(edge)} must be a number from 1 on, found "
            f"{shorten(repr(given), 40)}; an edge without an entry has no limit",
        )
    return float(given)  # type: ignore[arg-type]

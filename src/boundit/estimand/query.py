"""Queries ``P(y | do(x), c)``: outcomes, treatments and context, and their text."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from boundit.core.errors import (
    InvalidName,
    MalformedText,
    OverlappingRoles,
    QueryError,
    shorten,
)
from boundit.core.formula import Term, Variable
from boundit.core.names import Names, Nodes, is_name, sort_names
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import require_roles
from boundit.graph.text import END, Tokens

_PATTERN = re.compile(
    r"""
      (?P<skip>\s+)
    | (?P<name>[\w.]+)
    | (?P<quoted>"(?:[^"\\]|\\[\s\S])*")
    | (?P<mark>[|(),])
    """,
    re.VERBOSE,
)
_HINT = "variables are named without values, other names in double quotes"


def refuse_grouped(graph: CausalGraph, treatments: Iterable[str]) -> None:
    """Refuse a treatment in a group of arbitrary relations: its effects are not in the graph."""
    for name in sort_names(treatments):
        for group in graph.groups:
            if name in group.members and not group.independent:
                raise QueryError(
                    f"the arm {name!r} is in the group {group.name!r}, whose members may cause "
                    f"each other in any order; take {name!r} out of the group and draw its arrows"
                )


@dataclass(frozen=True)
class EffectQuery:
    """Which outcomes, under which treatments, in which context; each in the asker's order.

    >>> print(EffectQuery(outcomes=("Y",), treatments=("X1", "X2"), context=("U",)))
    P(Y | do(X1, X2), U)
    """

    outcomes: tuple[str, ...]
    treatments: tuple[str, ...] = ()
    context: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for role in ("outcomes", "treatments", "context"):
            names = getattr(self, role)
            # A lone string is one name, not its letters.
            object.__setattr__(self, role, (names,) if isinstance(names, str) else tuple(names))
        roles = {
            "outcomes": ("an outcome", self.outcomes),
            "treatments": ("a treatment", self.treatments),
            "context": ("context", self.context),
        }
        if not self.outcomes:
            raise QueryError("the query names no outcome; a query reads like 'Y | do(X), Z'")
        for role, (_, names) in roles.items():
            for name in names:
                if not is_name(name):
                    raise InvalidName(name)
                if names.count(name) > 1:
                    raise QueryError(f"{name!r} is named twice among the {role}; name it once")
        for (first, some), (second, others) in combinations(roles.values(), 2):
            for name in some:
                if name in others:
                    raise OverlappingRoles(name, first, second)

    @property
    def variables(self) -> Nodes:
        """Every variable the query names: outcomes, treatments and context."""
        return frozenset(self.outcomes + self.treatments + self.context)

    def require_in(self, graph: CausalGraph) -> None:
        """Raise when the graph lacks a variable of the query, or selection is asked about."""
        graph.require(self.variables)
        if graph.selection in self.variables:
            raise OverlappingRoles(str(graph.selection), "the selection node", "in the query")
        if graph.groups:
            refuse_grouped(graph, self.treatments)

    @property
    def formula(self) -> Term:
        """The query as a formula ``P(y | do(x), c)``, a value that text and HTML pages render."""
        outcomes, treatments, context = (
            tuple(map(Variable, names))
            for names in (self.outcomes, self.treatments, self.context)
        )
        done = (Term("do", treatments),) if treatments else ()
        return Term("P", outcomes, (*done, *context))

    def __str__(self) -> str:
        return str(self.formula)


def parse_query(text: str) -> EffectQuery:
    """Read a query from text.

    Parameters
    ----------
    text
        The query as it is written on paper: ``Y | do(X), Z`` or ``P(Y | do(X), Z)``.

    Returns
    -------
    EffectQuery
        Its outcomes, treatments and context.

    Examples
    --------
    >>> parse_query("Y | do(X1, X2), U1")
    EffectQuery(outcomes=('Y',), treatments=('X1', 'X2'), context=('U1',))
    >>> parse_query("P(Y | do(X))") == parse_query("Y | do(X)")
    True
    """
    if not isinstance(text, str):
        raise QueryError(
            f"a query is read from text such as 'Y | do(X), Z', found {type(text).__name__}"
        )
    try:
        return _QueryReader(text, _PATTERN, hint=_HINT).read()
    except MalformedText as error:
        # A query is one line: what lies past a line break is counted on from there.
        before = sum(len(line) + 1 for line in text.split("\n")[: error.line - 1])
        raise QueryError(
            f"query {shorten(text)!r}, column {before + error.column}: {error.reason}; a query "
            "reads like 'Y | do(X), Z'"
        ) from None


class _QueryReader(Tokens):
    """The grammar: ``[P(] names [| item, ...] [)]``, an item a name or ``do(names)``."""

    def read(self) -> EffectQuery:
        """Read the whole text of a query, such as ``Y | do(X), Z``."""
        first = self.expect_name("an outcome")
        wrapped = first in {"P", "p"} and self.take_mark("(")
        outcomes = [self.expect_name("an outcome") if wrapped else first]
        while self.take_mark(","):
            outcomes.append(self.expect_name("an outcome"))
        treatments, context = list[str](), list[str]()
        more = self.take_mark("|")
        while more:
            acts = self.now.kind == "name" and self.now.text == "do"
            name = self.expect_name("a variable or do(...)")
            if acts:
                self.expect_mark("(", " after do")
                treatments.append(self.expect_name("a treatment"))
                while self.take_mark(","):
                    treatments.append(self.expect_name("a treatment"))
                self.expect_mark(")", " after the treatments")
            else:
                context.append(name)
            more = self.take_mark(",")
        if wrapped:
            self.expect_mark(")")
        if self.now.kind != END:
            self.now.refuse(
                f"expected ',' or the end, found {self.now.quotation}; "
                "names with blanks or signs are written in double quotes"
            )
        return EffectQuery(tuple(outcomes), tuple(treatments), tuple(context))


def read_roles(graph: CausalGraph, roles: Mapping[str, Names]) -> list[Nodes]:
    """Read the variables of each role (outcome, treatment, ...) as a set of nodes, or refuse.

    Raises UnknownNode for a name the graph does not have, OverlappingRoles for a variable in
    two roles or for the selection node in any, QueryError without an outcome, and for a
    treatment whose effects on the rest of its group the graph leaves open.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Y", "S")], selection="S")
    >>> [sorted(part) for part in read_roles(graph, {"an outcome": "Y", "a treatment": ["X"]})]
    [['Y'], ['X']]
    >>> read_roles(graph, {"an outcome": "Y", "a covariate": "S"})
    Traceback (most recent call last):
    ...
    boundit.core.errors.OverlappingRoles: 'S' is the selection node and a covariate at once. \
Give it one of these roles.
    """
    parts = dict(zip(roles, require_roles(graph, roles), strict=True))
    for role, part in parts.items():
        if graph.selection is not None and graph.selection in part:
            raise OverlappingRoles(graph.selection, "the selection node", role)
    if not parts.get("an outcome", True):
        raise QueryError("the question names no outcome; name at least one")
    for role in ("a treatment", "exchanged"):
        refuse_grouped(graph, parts.get(role, ()))
    return list(parts.values())

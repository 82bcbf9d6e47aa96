"""The question: ``P(y | do(x), c)``, what each arm would earn in each context."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.tokens import END, Tokens
from boundit.terms.errors import (
    InvalidName,
    InvalidQuery,
    MalformedQuery,
    MalformedText,
    NotText,
    OverlappingRoles,
    RepeatedVariable,
)
from boundit.terms.formula import Term, Variable
from boundit.terms.names import Nodes, is_name, sort_names

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


class ArmInGroup(InvalidQuery):
    """An arm whose effects on other members of its group the graph leaves open."""

    def __init__(self, name: str, group: str) -> None:
        self.name, self.group = name, group
        super().__init__(
            f"the arm {name!r} is in the group {group!r}, whose members may cause each other "
            f"in any order; take {name!r} out of the group and draw its arrows"
        )


def refuse_grouped(graph: CausalGraph, treatments: Iterable[str]) -> None:
    """Refuse an arm that is a member of a group whose members may be related in any way.

    What it does to the others is not in the graph.
    """
    for name in sort_names(treatments):
        for group in graph.groups:
            if name in group.members and not group.independent:
                raise ArmInGroup(name, group.name)


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
            raise MalformedQuery("", "it names no outcome", column=1)
        for role, (_, names) in roles.items():
            for name in names:
                if not is_name(name):
                    raise InvalidName(name)
                if names.count(name) > 1:
                    raise RepeatedVariable(name, role)
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
    """Read a question as it is written on paper, ``Y | do(X), Z``, into an ``EffectQuery``.

    >>> parse_query("Y | do(X1, X2), U1")
    EffectQuery(outcomes=('Y',), treatments=('X1', 'X2'), context=('U1',))
    >>> parse_query("P(Y | do(X))") == parse_query("Y | do(X)")
    True
    """
    if not isinstance(text, str):
        raise NotText("query", text, "as in 'Y | do(X), Z'")
    try:
        return _QueryReader(text).read()
    except MalformedText as error:
        # A query is one line: what lies past a line break is counted on from there.
        before = sum(len(line) + 1 for line in text.split("\n")[: error.line - 1])
        raise MalformedQuery(text, error.reason, column=before + error.column) from None


class _QueryReader:
    """The grammar: ``[P(] names [| item, ...] [)]``, an item a name or ``do(names)``."""

    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text, _PATTERN, hint=_HINT)

    def read(self) -> EffectQuery:
        """Read the whole text of a query, such as ``Y | do(X), Z``, into an ``EffectQuery``."""
        first = self._tokens.expect_name("an outcome")
        wrapped = first in {"P", "p"} and self._tokens.take_mark("(")
        outcomes = [self._tokens.expect_name("an outcome") if wrapped else first]
        while self._tokens.take_mark(","):
            outcomes.append(self._tokens.expect_name("an outcome"))
        treatments, context = list[str](), list[str]()
        if self._tokens.take_mark("|"):
            self._read_condition(treatments, context)
            while self._tokens.take_mark(","):
                self._read_condition(treatments, context)
        if wrapped:
            self._tokens.expect_mark(")")
        if self._tokens.now.kind != END:
            self._tokens.now.refuse(
                f"expected ',' or the end, found {self._tokens.now.quotation}; "
                "names with blanks or signs are written in double quotes"
            )
        return EffectQuery(tuple(outcomes), tuple(treatments), tuple(context))

    def _read_condition(self, treatments: list[str], context: list[str]) -> None:
        """Read one item after the bar into its list: a context, or treatments in ``do(...)``."""
        acts = self._tokens.now.kind == "name" and self._tokens.now.text == "do"
        name = self._tokens.expect_name("a variable or do(...)")
        if not acts:
            context.append(name)
            return
        self._tokens.expect_mark("(", " after do")
        treatments.append(self._tokens.expect_name("a treatment"))
        while self._tokens.take_mark(","):
            treatments.append(self._tokens.expect_name("a treatment"))
        self._tokens.expect_mark(")", " after the treatments")

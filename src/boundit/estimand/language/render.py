r"""Formulas for people and programs: text, LaTeX, and JSON both ways.

Every term says what it speaks of: ``P(y | x, S=1)`` of the logged rows, ``P(y | x)`` of the
whole population. A summed variable that hides an outer one of the same name is primed.
"""

import re
from collections.abc import Mapping
from typing import Protocol, assert_never

from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    free_variables,
)
from boundit.terms.errors import BounditError
from boundit.terms.names import Nodes, sort_names, write_name

_SHORT = re.compile(r"[A-Za-z]\d*")
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "#$%&_{}"} | {"\\": r"\backslash "})


class MalformedFormula(BounditError):
    """JSON that is not a formula."""

    def __init__(self, record: object) -> None:
        self.record = record
        super().__init__(
            f"{str(record)[:60]!r} is no formula; it needs one of the keys "
            "p, sum, product, ratio, factor"
        )


def text(expression: Expression) -> str:
    """Write a formula on one line.

    >>> z, x, y = frozenset("Z"), frozenset("X"), frozenset("Y")
    >>> text(Sum(z, Product((P(y, x | z), P(z, logged=False)))))
    'Σ_{Z} P(Y | X, Z, S=1) P(Z)'
    """
    return _written(expression, _opening(expression), _Text())


def latex(expression: Expression) -> str:
    r"""Write a formula for a page.

    >>> x, y = frozenset("X"), frozenset("Y")
    >>> print(latex(Product((P(y, x), Sum(x, P(x, logged=False))))))
    P(Y \mid X, S{=}1)\, \sum_{X'} P(X')
    """
    return _written(expression, _opening(expression), _Latex())


class _Script(Protocol):
    """How one output spells the parts of a formula."""

    gap: str

    def name(self, variable: str) -> str: ...
    def term(self, of: str, bar: str) -> str: ...
    def selected(self) -> str: ...
    def total(self, over: str, body: str) -> str: ...
    def ratio(self, top: str, bottom: str) -> str: ...
    def group(self, body: str) -> str: ...


class _Text:
    gap = " "

    def name(self, variable: str) -> str:
        return write_name(variable)

    def term(self, of: str, bar: str) -> str:
        return f"P({of} | {bar})" if bar else f"P({of})"

    def selected(self) -> str:
        return "S=1"

    def total(self, over: str, body: str) -> str:
        return f"Σ_{{{over}}} {body}"

    def ratio(self, top: str, bottom: str) -> str:
        return f"[{top}] / [{bottom}]"

    def group(self, body: str) -> str:
        return f"({body})"


class _Latex:
    gap = r"\, "

    def name(self, variable: str) -> str:
        if _SHORT.fullmatch(variable):
            return variable
        return rf"\mathrm{{{variable.translate(_SPECIAL)}}}".replace(" ", r"\ ")

    def term(self, of: str, bar: str) -> str:
        return rf"P({of} \mid {bar})" if bar else f"P({of})"

    def selected(self) -> str:
        return "S{=}1"

    def total(self, over: str, body: str) -> str:
        return rf"\sum_{{{over}}} {body}"

    def ratio(self, top: str, bottom: str) -> str:
        return rf"\frac{{{top}}}{{{bottom}}}"

    def group(self, body: str) -> str:
        return rf"\left({body}\right)"


_Names = Mapping[str, int]
"""How many primes each variable in sight bears."""


def _opening(expression: Expression) -> _Names:
    return dict.fromkeys(free_variables(expression), 0)


def _written(expression: Expression, names: _Names, script: _Script) -> str:
    match expression:
        case P(of, given, logged):
            bar = [_spelled(given, names, script)] if given else []
            bar += [script.selected()] if logged else []
            return script.term(_spelled(of, names, script), ", ".join(bar))
        case Sum(over, body):
            inner = {**names, **{v: names[v] + 1 if v in names else 0 for v in over}}
            return script.total(_spelled(over, inner, script), _written(body, inner, script))
        case Product(factors):
            # A sum reaches to the end of the line, so sums stand last, all but one in brackets.
            ordered = sorted(factors, key=_place)
            shown = [_closed(f, names, script) for f in ordered[:-1]]
            shown += [_written(f, names, script) for f in ordered[-1:]]
            return script.gap.join(shown) or "1"
        case Ratio(top, bottom):
            return script.ratio(_written(top, names, script), _written(bottom, names, script))
        case CFactor(of):
            return f"Q[{_spelled(of, names, script)}]"
        case _:
            assert_never(expression)


def _place(factor: Expression) -> tuple[bool, bool, list[str]]:
    of = sort_names(factor.of) if isinstance(factor, P | CFactor) else []
    return isinstance(factor, Sum), isinstance(factor, Ratio), of


def _closed(factor: Expression, names: _Names, script: _Script) -> str:
    shown = _written(factor, names, script)
    return script.group(shown) if isinstance(factor, Sum | Ratio) else shown


def _spelled(variables: Nodes, names: _Names, script: _Script) -> str:
    return ", ".join(script.name(v) + "'" * names.get(v, 0) for v in sort_names(variables))


def as_json(expression: Expression) -> dict[str, object]:
    """Write a formula as a record of plain lists and strings.

    >>> as_json(P(frozenset("Y"), frozenset("X")))
    {'p': ['Y'], 'given': ['X'], 'logged': True}
    """
    match expression:
        case P(of, given, logged):
            return {"p": sort_names(of), "given": sort_names(given), "logged": logged}
        case Sum(over, body):
            return {"sum": sort_names(over), "of": as_json(body)}
        case Product(factors):
            return {"product": [as_json(f) for f in factors]}
        case Ratio(top, bottom):
            return {"ratio": [as_json(top), as_json(bottom)]}
        case CFactor(of):
            return {"factor": sort_names(of)}
        case _:
            assert_never(expression)


def from_json(record: object) -> Expression:
    """Read back what ``as_json`` wrote; raises MalformedFormula for anything else.

    >>> from_json({"sum": ["Z"], "of": {"p": ["Y", "Z"], "given": [], "logged": False}})
    Sum(over=frozenset({'Z'}), body=P(of=frozenset({...}), given=frozenset(), logged=False))
    """
    match record:
        case {"p": list(of), "given": list(given), "logged": bool(logged)}:
            return P(_named(of), _named(given), logged)
        case {"sum": list(over), "of": body}:
            return Sum(_named(over), from_json(body))
        case {"product": list(factors)}:
            return Product(tuple(map(from_json, factors)))
        case {"ratio": [top, bottom]}:
            return Ratio(from_json(top), from_json(bottom))
        case {"factor": list(of)}:
            return CFactor(_named(of))
        case _:
            raise MalformedFormula(record)


def _named(names: list[object]) -> Nodes:
    if not all(isinstance(name, str) for name in names):
        raise MalformedFormula(names)
    return Nodes(str(name) for name in names)

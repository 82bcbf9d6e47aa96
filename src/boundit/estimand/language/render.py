r"""Formulas for people: one walk over a formula, and how text and LaTeX spell its parts.

Every term says what it speaks of: ``P(y | x, S=1)`` of the logged rows, ``P(y | x)`` of the
whole population. A summed variable that hides an outer one of the same name is primed. Another
output is another ``Script``: ``mathml`` has one.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, assert_never

from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    free_variables,
)
from boundit.terms.names import Nodes, sort_names, write_name

_SHORT = re.compile(r"[A-Za-z]\d*")
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "#$%&_{}"} | {"\\": r"\backslash "})


def text(expression: Expression) -> str:
    """Write a formula on one line, for explanations and wherever formulas are printed.

    Called by ``Recovery.__str__``, ``mathml``, and by the rules of bounds for their claims.

    >>> z, x, y = frozenset("Z"), frozenset("X"), frozenset("Y")
    >>> text(Sum(z, Product((P(y, x | z), P(z, logged=False)))))
    'Σ_{Z} P(Y | X, Z, S=1) P(Z)'
    """
    return write(expression, _Text())


def latex(expression: Expression) -> str:
    r"""Write a formula for a paper.

    Called by ``Recovery.latex``.

    >>> x, y = frozenset("X"), frozenset("Y")
    >>> print(latex(Product((P(y, x), Sum(x, P(x, logged=False))))))
    P(Y \mid X, S{=}1)\, \sum_{X'} P(X')
    """
    return write(expression, _Latex())


class Primed(NamedTuple):
    """A variable, and how many primes tell it from outer variables of its name."""

    name: str
    primes: int


Shown = TypeVar("Shown")
"""What an output makes of a part: a string, or pieces of a page."""


class Script(Protocol[Shown]):
    """How one output spells the parts of a formula; ``write`` calls it for every part."""

    def term(self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool) -> Shown:
        """Spell ``P(of | given)``, of the logged rows or of everyone."""
        ...

    def factor(self, of: Sequence[Primed]) -> Shown:
        """Spell ``Q[of]``."""
        ...

    def total(self, over: Sequence[Primed], body: Shown) -> Shown:
        """Spell a sum over variables."""
        ...

    def row(self, factors: Sequence[Shown]) -> Shown:
        """Spell a product; without factors it is 1."""
        ...

    def ratio(self, top: Shown, bottom: Shown) -> Shown:
        """Spell a fraction."""
        ...

    def group(self, body: Shown) -> Shown:
        """Put a factor in brackets."""
        ...


class _Text:
    """One line of plain text."""

    def term(self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool) -> str:
        """Spell ``P(of | given)``; called by ``_write``."""
        bar = ", ".join([*_spell(given, write_name), *(["S=1"] if logged else [])])
        return f"P({self._names(of)} | {bar})" if bar else f"P({self._names(of)})"

    def factor(self, of: Sequence[Primed]) -> str:
        """Spell ``Q[of]``; called by ``_write``."""
        return f"Q[{self._names(of)}]"

    def total(self, over: Sequence[Primed], body: str) -> str:
        """Spell a sum; called by ``_write``."""
        return f"Σ_{{{self._names(over)}}} {body}"

    def row(self, factors: Sequence[str]) -> str:
        """Spell a product; called by ``_write``."""
        return " ".join(factors) or "1"

    def ratio(self, top: str, bottom: str) -> str:
        """Spell a fraction on one line; called by ``_write``."""
        return f"[{top}] / [{bottom}]"

    def group(self, body: str) -> str:
        """Put a factor in brackets; called by ``_write_closed``."""
        return f"({body})"

    def _names(self, variables: Sequence[Primed]) -> str:
        """Spell variables with commas; called by ``_Text.term`` and its like."""
        return ", ".join(_spell(variables, write_name))


class _Latex:
    """LaTeX, for math mode."""

    def term(self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool) -> str:
        """Spell ``P(of | given)``; called by ``_write``."""
        bar = ", ".join([*_spell(given, _latex_name), *(["S{=}1"] if logged else [])])
        return rf"P({self._names(of)} \mid {bar})" if bar else f"P({self._names(of)})"

    def factor(self, of: Sequence[Primed]) -> str:
        """Spell ``Q[of]``; called by ``_write``."""
        return f"Q[{self._names(of)}]"

    def total(self, over: Sequence[Primed], body: str) -> str:
        """Spell a sum; called by ``_write``."""
        return rf"\sum_{{{self._names(over)}}} {body}"

    def row(self, factors: Sequence[str]) -> str:
        """Spell a product; called by ``_write``."""
        return r"\, ".join(factors) or "1"

    def ratio(self, top: str, bottom: str) -> str:
        """Spell a fraction; called by ``_write``."""
        return rf"\frac{{{top}}}{{{bottom}}}"

    def group(self, body: str) -> str:
        """Put a factor in brackets that grow; called by ``_write_closed``."""
        return rf"\left({body}\right)"

    def _names(self, variables: Sequence[Primed]) -> str:
        """Spell variables with commas; called by ``_Latex.term`` and its like."""
        return ", ".join(_spell(variables, _latex_name))


def _latex_name(variable: str) -> str:
    """Set a short name as a letter, others upright; used by ``_Latex.term`` and its like."""
    if _SHORT.fullmatch(variable):
        return variable
    return rf"\mathrm{{{variable.translate(_SPECIAL)}}}".replace(" ", r"\ ")


def _spell(variables: Iterable[Primed], name: Callable[[str], str]) -> list[str]:
    """Spell variables, each with its primes; used by ``_Text`` and ``_Latex``."""
    return [name(variable) + "'" * primes for variable, primes in variables]


_Primes = Mapping[str, int]
"""How many primes each variable in sight bears."""


def write(expression: Expression, script: Script[Shown]) -> Shown:
    """Write a formula part by part, in the spelling of one output.

    Called by ``text``, ``latex`` and ``mathml``, each with a script of its own.
    """
    return _write(expression, dict.fromkeys(free_variables(expression), 0), script)


def _write(expression: Expression, primes: _Primes, script: Script[Shown]) -> Shown:
    """Write one part, with the primes in sight there; called by ``write``, then by itself."""
    match expression:
        case P(of, given, logged):
            return script.term(_prime(of, primes), _prime(given, primes), logged=logged)
        case Sum(over, body):
            inner = {**primes, **{v: primes[v] + 1 if v in primes else 0 for v in over}}
            return script.total(_prime(over, inner), _write(body, inner, script))
        case Product(factors):
            # A sum reaches to the end of the line, so sums stand last, all but one in brackets.
            ordered = sorted(factors, key=_place)
            shown = [_write_closed(f, primes, script) for f in ordered[:-1]]
            return script.row(shown + [_write(f, primes, script) for f in ordered[-1:]])
        case Ratio(top, bottom):
            return script.ratio(_write(top, primes, script), _write(bottom, primes, script))
        case CFactor(of):
            return script.factor(_prime(of, primes))
        case _:
            assert_never(expression)


def _write_closed(factor: Expression, primes: _Primes, script: Script[Shown]) -> Shown:
    """Write a factor that others follow, in brackets if it needs them; called by ``_write``."""
    shown = _write(factor, primes, script)
    return script.group(shown) if isinstance(factor, Sum | Ratio) else shown


def _place(factor: Expression) -> tuple[bool, bool, list[str]]:
    """Rank a factor in its row: terms by name, then ratios, then sums; used by ``_write``."""
    of = sort_names(factor.of) if isinstance(factor, P | CFactor) else []
    return isinstance(factor, Sum), isinstance(factor, Ratio), of


def _prime(variables: Nodes, primes: _Primes) -> list[Primed]:
    """List variables in order with their primes; called by ``_write``."""
    return [Primed(v, primes.get(v, 0)) for v in sort_names(variables)]

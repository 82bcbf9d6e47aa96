r"""Formulas for people: one walk over a formula, and how LaTeX spells its parts.

Every term says what it speaks of: ``P(y | x, S=1)`` of the logged rows, ``P(y | x)`` of the
whole population. A summed variable that hides an outer one of the same name is primed. Another
output is another ``Script``: ``notation`` has one, for text and pages.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, assert_never

from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    find_free_variables,
)
from boundit.terms.names import Nodes, sort_names

_SHORT = re.compile(r"[A-Za-z]\d*")
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "#$%&_{}"} | {"\\": r"\backslash "})


def write_latex(expression: Expression) -> str:
    r"""Write a formula in LaTeX.

    >>> x, y = frozenset("X"), frozenset("Y")
    >>> print(write_latex(Product((P(y, x), Sum(x, P(x, logged=False))))))
    P(Y \mid X, S{=}1)\, \sum_{X'} P(X')
    """
    return write_with(expression, _Latex())


class Primed(NamedTuple):
    """A variable, and how many primes tell it from outer variables of its name."""

    name: str
    primes: int


Shown = TypeVar("Shown")
"""What an output makes of a part: a string, or parts of a sentence."""


class Script(Protocol[Shown]):
    """How one output spells the parts of a formula; ``write_with`` calls it for every part."""

    def write_term(
        self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool
    ) -> Shown:
        """Write ``P(of | given)``, of logged rows or of everyone, in this output's spelling."""
        ...

    def write_factor(self, of: Sequence[Primed]) -> Shown:
        """Write the c-factor ``Q[of]``, a law not yet recovered, in this output's spelling."""
        ...

    def write_sum(self, over: Sequence[Primed], body: Shown) -> Shown:
        """Write a sum over variables in this output's spelling, such as LaTeX."""
        ...

    def write_product(self, factors: Sequence[Shown]) -> Shown:
        """Write a product in this output's spelling; without factors it is 1."""
        ...

    def write_ratio(self, top: Shown, bottom: Shown) -> Shown:
        """Write a ratio of two written formulas in this output's spelling, such as LaTeX."""
        ...

    def write_group(self, body: Shown) -> Shown:
        """Put a factor that is written already in brackets."""
        ...


class _Latex:
    """LaTeX, for math mode."""

    def write_term(self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool) -> str:
        """Write ``P(of | given)`` in LaTeX."""
        bar = ", ".join(filter(None, (_join_names(given), "S{=}1" if logged else "")))
        return rf"P({_join_names(of)} \mid {bar})" if bar else f"P({_join_names(of)})"

    def write_factor(self, of: Sequence[Primed]) -> str:
        """Write the c-factor ``Q[of]`` in LaTeX."""
        return f"Q[{_join_names(of)}]"

    def write_sum(self, over: Sequence[Primed], body: str) -> str:
        """Write a sum over variables in LaTeX."""
        return rf"\sum_{{{_join_names(over)}}} {body}"

    def write_product(self, factors: Sequence[str]) -> str:
        """Write a product in LaTeX, thin spaces between factors."""
        return r"\, ".join(factors) or "1"

    def write_ratio(self, top: str, bottom: str) -> str:
        """Write a ratio as a fraction in LaTeX."""
        return rf"\frac{{{top}}}{{{bottom}}}"

    def write_group(self, body: str) -> str:
        """Put a factor in brackets that grow with it, in LaTeX."""
        return rf"\left({body}\right)"


def _write_latex_name(variable: str) -> str:
    """Write a variable's name in LaTeX: a short one as a letter, others upright."""
    if _SHORT.fullmatch(variable):
        return variable
    return rf"\mathrm{{{variable.translate(_SPECIAL)}}}".replace(" ", r"\ ")


def _join_names(variables: Iterable[Primed]) -> str:
    """Write variables in LaTeX with their primes, commas between."""
    return ", ".join(_write_latex_name(name) + "'" * primes for name, primes in variables)


_Primes = Mapping[str, int]
"""How many primes each variable in sight bears."""


def write_with(expression: Expression, script: Script[Shown]) -> Shown:
    """Write a formula with the methods of ``script``: LaTeX, or parts of a sentence."""
    return _write_part(expression, dict.fromkeys(find_free_variables(expression), 0), script)


def _write_part(expression: Expression, primes: _Primes, script: Script[Shown]) -> Shown:
    """Write one part of a formula; ``primes`` says how many each variable has there."""
    match expression:
        case P(of, given, logged):
            return script.write_term(
                _list_primed(of, primes), _list_primed(given, primes), logged=logged
            )
        case Sum(over, body):
            inner = {**primes, **{v: primes[v] + 1 if v in primes else 0 for v in over}}
            return script.write_sum(_list_primed(over, inner), _write_part(body, inner, script))
        case Product(factors):
            # A sum reaches to the end of the line, so sums stand last, all but one in brackets.
            ordered = sorted(factors, key=_rank_in_row)
            shown = [_write_closed(f, primes, script) for f in ordered[:-1]]
            return script.write_product(
                shown + [_write_part(f, primes, script) for f in ordered[-1:]]
            )
        case Ratio(top, bottom):
            return script.write_ratio(
                _write_part(top, primes, script), _write_part(bottom, primes, script)
            )
        case CFactor(of):
            return script.write_factor(_list_primed(of, primes))
        case _:
            assert_never(expression)


def _write_closed(factor: Expression, primes: _Primes, script: Script[Shown]) -> Shown:
    """Write a factor that others follow; a sum or ratio in brackets."""
    shown = _write_part(factor, primes, script)
    return script.write_group(shown) if isinstance(factor, Sum | Ratio) else shown


def _rank_in_row(factor: Expression) -> tuple[bool, bool, list[str]]:
    """Make the sorting key of a factor in a written product: terms, then ratios, then sums."""
    of = sort_names(factor.of) if isinstance(factor, P | CFactor) else []
    return isinstance(factor, Sum), isinstance(factor, Ratio), of


def _list_primed(variables: Nodes, primes: _Primes) -> list[Primed]:
    """List variables by name, each with how many primes (as in X') it has in this place."""
    return [Primed(v, primes.get(v, 0)) for v in sort_names(variables)]

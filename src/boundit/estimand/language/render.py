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
    r"""Write a formula for a paper.

    Called by ``Recovery.latex``.

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
        """Spell ``P(of | given)``, of the logged rows or of everyone.

        Called by ``_write_part``.
        """
        ...

    def write_factor(self, of: Sequence[Primed]) -> Shown:
        """Spell ``Q[of]``. Called by ``_write_part``."""
        ...

    def write_sum(self, over: Sequence[Primed], body: Shown) -> Shown:
        """Spell a sum over variables. Called by ``_write_part``."""
        ...

    def write_product(self, factors: Sequence[Shown]) -> Shown:
        """Spell a product; without factors it is 1. Called by ``_write_part``."""
        ...

    def write_ratio(self, top: Shown, bottom: Shown) -> Shown:
        """Spell a fraction. Called by ``_write_part``."""
        ...

    def write_group(self, body: Shown) -> Shown:
        """Put a factor in brackets. Called by ``_write_closed``."""
        ...


class _Latex:
    """LaTeX, for math mode."""

    def write_term(self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool) -> str:
        """Spell ``P(of | given)``. Called by ``_write_part``."""
        bar = ", ".join(filter(None, (_join_names(given), "S{=}1" if logged else "")))
        return rf"P({_join_names(of)} \mid {bar})" if bar else f"P({_join_names(of)})"

    def write_factor(self, of: Sequence[Primed]) -> str:
        """Spell ``Q[of]``. Called by ``_write_part``."""
        return f"Q[{_join_names(of)}]"

    def write_sum(self, over: Sequence[Primed], body: str) -> str:
        """Spell a sum. Called by ``_write_part``."""
        return rf"\sum_{{{_join_names(over)}}} {body}"

    def write_product(self, factors: Sequence[str]) -> str:
        """Spell a product. Called by ``_write_part``."""
        return r"\, ".join(factors) or "1"

    def write_ratio(self, top: str, bottom: str) -> str:
        """Spell a fraction. Called by ``_write_part``."""
        return rf"\frac{{{top}}}{{{bottom}}}"

    def write_group(self, body: str) -> str:
        """Put a factor in brackets that grow. Called by ``_write_closed``."""
        return rf"\left({body}\right)"


def _write_latex_name(variable: str) -> str:
    """Set a short name as a letter, others upright. Called by ``_join_names``."""
    if _SHORT.fullmatch(variable):
        return variable
    return rf"\mathrm{{{variable.translate(_SPECIAL)}}}".replace(" ", r"\ ")


def _join_names(variables: Iterable[Primed]) -> str:
    """Spell variables with their primes, commas between. Called by ``_Latex.write_term``."""
    return ", ".join(_write_latex_name(name) + "'" * primes for name, primes in variables)


_Primes = Mapping[str, int]
"""How many primes each variable in sight bears."""


def write_with(expression: Expression, script: Script[Shown]) -> Shown:
    """Write a formula part by part, in the spelling of one output.

    Called by ``write_latex`` and ``make_sentence``, with a script each.
    """
    return _write_part(expression, dict.fromkeys(find_free_variables(expression), 0), script)


def _write_part(expression: Expression, primes: _Primes, script: Script[Shown]) -> Shown:
    """Write one part, with the primes in sight there. Called by ``write_with``, then itself."""
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
    """Write a factor that others follow, maybe in brackets. Called by ``_write_part``."""
    shown = _write_part(factor, primes, script)
    return script.write_group(shown) if isinstance(factor, Sum | Ratio) else shown


def _rank_in_row(factor: Expression) -> tuple[bool, bool, list[str]]:
    """Rank a factor in its row: terms, then ratios, then sums. Used by ``_write_part``."""
    of = sort_names(factor.of) if isinstance(factor, P | CFactor) else []
    return isinstance(factor, Sum), isinstance(factor, Ratio), of


def _list_primed(variables: Nodes, primes: _Primes) -> list[Primed]:
    """List variables in order with their primes. Called by ``_write_part``."""
    return [Primed(v, primes.get(v, 0)) for v in sort_names(variables)]

"""Formulas to stand in sentences: values that text and pages render.

A formula becomes the parts of a ``boundit.terms.formula.Sentence``, which tables of bounds
carry and pages draw; its text is what a terminal shows.
"""

from collections.abc import Sequence

from boundit.estimand.language.expression import Expression
from boundit.estimand.language.render import Primed, write_with
from boundit.terms.formula import Fraction, Group, Over, Part, Sentence, Term, Variable

_Parts = tuple[Part, ...]


def make_sentence(expression: Expression) -> Sentence:
    """Write a formula as a sentence of typed parts, which text and HTML render in their ways.

    >>> from boundit.estimand.language.expression import P, Sum
    >>> print(make_sentence(Sum(frozenset("Z"), P(frozenset("Z"), logged=False))))
    Σ_{Z} P(Z)
    """
    return Sentence(write_with(expression, _Notation()))


def write_text(expression: Expression) -> str:
    """Write a formula on one line.

    >>> from boundit.estimand.language.expression import P, Product, Sum
    >>> z, x, y = frozenset("Z"), frozenset("X"), frozenset("Y")
    >>> write_text(Sum(z, Product((P(y, x | z), P(z, logged=False)))))
    'Σ_{Z} P(Y | X, Z, S=1) P(Z)'
    """
    return str(make_sentence(expression))


class _Notation:
    """How the parts of a formula become values."""

    def write_term(
        self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool
    ) -> _Parts:
        """Write ``P(of | given)`` as parts of a sentence."""
        selected = (Variable("S", value="1"),) if logged else ()
        return (Term("P", _make_variables(of), (*_make_variables(given), *selected)),)

    def write_factor(self, of: Sequence[Primed]) -> _Parts:
        """Write the c-factor ``Q[of]`` as parts of a sentence."""
        return (Term("Q", _make_variables(of)),)

    def write_sum(self, over: Sequence[Primed], body: _Parts) -> _Parts:
        """Write a sum over variables as parts of a sentence."""
        return (Over("Σ", _make_variables(over)), " ", *body)

    def write_product(self, factors: Sequence[_Parts]) -> _Parts:
        """Write a product as parts of a sentence, a space between factors."""
        if not factors:
            return ("1",)
        first, *others = factors
        return (*first, *(part for factor in others for part in (" ", *factor)))

    def write_ratio(self, top: _Parts, bottom: _Parts) -> _Parts:
        """Write a ratio as parts of a sentence."""
        return (Fraction(top, bottom),)

    def write_group(self, body: _Parts) -> _Parts:
        """Put a factor, given as parts of a sentence, in brackets."""
        return (Group(body),)


def _make_variables(variables: Sequence[Primed]) -> tuple[Variable, ...]:
    """Turn names and their numbers of primes into variables of a sentence, such as X'."""
    return tuple(Variable(name, primes) for name, primes in variables)

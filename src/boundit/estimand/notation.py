"""Formulas for readers: parts of a sentence, a line of text, LaTeX and plain records.

Every term says what it speaks of: ``P(y | x, S=1)`` of the logged rows, ``P(y | x)`` of the
whole population. A summed variable that hides an outer one of the same name is primed.
"""

import re
from collections.abc import Iterable, Mapping
from typing import assert_never

from boundit.core.formula import Fraction, Group, Over, Part, Sentence, Term, Variable
from boundit.core.names import Nodes, sort_names
from boundit.estimand.expression import CFactor, Expression, P, Product, Ratio, Sum

_SHORT = re.compile(r"[A-Za-z]\d*")
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "#$%&_{}"} | {"\\": r"\backslash "})
_Primes = Mapping[str, int]
"""How many primes tell each variable in sight from outer ones of its name."""


def make_sentence(expression: Expression) -> Sentence:
    """Write a formula as a sentence of typed parts, which text and HTML render in their ways.

    >>> print(make_sentence(Sum(frozenset("Z"), P(frozenset("Z"), logged=False))))
    Σ_{Z} P(Z)
    """
    return Sentence(_write(expression, dict.fromkeys(expression.free, 0)))


def write_text(expression: Expression) -> str:
    """Write a formula on one line.

    >>> z, x, y = frozenset("Z"), frozenset("X"), frozenset("Y")
    >>> write_text(Sum(z, Product((P(y, x | z), P(z, logged=False)))))
    'Σ_{Z} P(Y | X, Z, S=1) P(Z)'
    """
    return str(make_sentence(expression))


def write_latex(expression: Expression) -> str:
    r"""Write a formula in LaTeX, for math mode.

    >>> x, y = frozenset("X"), frozenset("Y")
    >>> print(write_latex(Product((P(y, x), Sum(x, P(x, logged=False))))))
    P(Y \mid X, S{=}1)\, \sum_{X'} P(X')
    """
    return _write_latex(make_sentence(expression).parts)


def to_record(expression: Expression) -> dict[str, object]:
    """Write a formula as a record of plain lists and strings, ready for JSON.

    >>> to_record(P(frozenset("Y"), frozenset("X")))
    {'p': ['Y'], 'given': ['X'], 'logged': True}
    """
    match expression:
        case P(of, given, logged):
            return {"p": sort_names(of), "given": sort_names(given), "logged": logged}
        case Sum(over, body):
            return {"sum": sort_names(over), "of": to_record(body)}
        case Product(factors):
            return {"product": [to_record(f) for f in factors]}
        case Ratio(top, bottom):
            return {"ratio": [to_record(top), to_record(bottom)]}
        case CFactor(of):
            return {"factor": sort_names(of)}
        case _:
            assert_never(expression)


def _write(expression: Expression, primes: _Primes) -> tuple[Part, ...]:
    """Write one part of a formula as parts of a sentence."""

    def variables(names: Nodes, shown: _Primes = primes) -> tuple[Variable, ...]:
        return tuple(Variable(name, shown.get(name, 0)) for name in sort_names(names))

    match expression:
        case P(of, given, logged):
            selected = (Variable("S", value="1"),) if logged else ()
            return (Term("P", variables(of), (*variables(given), *selected)),)
        case Sum(over, body):
            inner = {**primes, **{v: primes[v] + 1 if v in primes else 0 for v in over}}
            return (Over("Σ", variables(over, inner)), " ", *_write(body, inner))
        case Product(factors):
            # A sum reaches to the end of the line, so sums stand last, all but one in brackets.
            ordered = sorted(factors, key=_rank_in_row)
            parts: list[Part] = []
            for i, factor in enumerate(ordered, 1):
                shown = _write(factor, primes)
                closed = i < len(ordered) and isinstance(factor, Sum | Ratio)
                parts += (" ", *((Group(shown),) if closed else shown))
            return tuple(parts[1:]) or ("1",)
        case Ratio(top, bottom):
            return (Fraction(_write(top, primes), _write(bottom, primes)),)
        case CFactor(of):
            return (Term("Q", variables(of)),)
        case _:
            assert_never(expression)


def _rank_in_row(factor: Expression) -> tuple[bool, bool, list[str]]:
    """Make the sorting key of a factor in a written product: terms, then ratios, then sums."""
    of = sort_names(factor.of) if isinstance(factor, P | CFactor) else []
    return isinstance(factor, Sum), isinstance(factor, Ratio), of


def _write_latex(parts: Iterable[Part]) -> str:
    """Write the parts of a formula in LaTeX, thin spaces between factors."""
    written, before = "", None
    for part in parts:
        match part:
            case " ":
                written += " " if isinstance(before, Over) else r"\, "
            case Term(letter, of, given):
                bar = rf" \mid {_join(given)}" if given else ""
                opening, closing = part.brackets
                written += f"{letter}{opening}{_join(of)}{bar}{closing}"
            case Over(_, variables):
                written += rf"\sum_{{{_join(variables)}}}"
            case Fraction(top, bottom):
                written += rf"\frac{{{_write_latex(top)}}}{{{_write_latex(bottom)}}}"
            case Group(inside):
                written += rf"\left({_write_latex(inside)}\right)"
            case _:
                written += str(part)
        before = part
    return written


def _join(variables: Iterable[Variable | Term]) -> str:
    """Write variables in LaTeX, a short name as a letter, others upright, commas between."""
    written = list[str]()
    for variable in variables:
        if isinstance(variable, Term):
            written.append(_write_latex((variable,)))
            continue
        name = variable.name
        if not _SHORT.fullmatch(name):
            name = rf"\mathrm{{{name.translate(_SPECIAL)}}}".replace(" ", r"\ ")
        value = f"{{=}}{variable.value}" if variable.value else ""
        written.append(f"{name}{variable.primes * chr(39)}{value}")
    return ", ".join(written)

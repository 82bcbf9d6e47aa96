"""Formulas for programs: records of plain lists and strings, ready for JSON."""

from typing import assert_never

from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)
from boundit.terms.names import sort_names


def to_record(expression: Expression) -> dict[str, object]:
    """Write a formula as a record of plain lists and strings.

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

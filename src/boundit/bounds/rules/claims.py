"""The wording of claims: sums, extremes and laws of the population, as parts of sentences.

A rule says what it claims from the outside in, ``sum over Z of P(Z) x (min/max over W of P)``.
Formulas stay values, so that a table keeps them and a page draws them.
"""

from collections.abc import Iterable

from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.terms.formula import Group, Over, Sentence, Sign, Term, Variable
from boundit.terms.names import Nodes, sort_names


def take_extremes(names: Iterable[str], inside: Sentence) -> Sentence:
    """Write "min/max over these variables of" in front of a formula, for an explanation.

    >>> print(take_extremes(["W"], Sentence.of("...")))
    min/max over W of ...
    """
    return Sentence.of(Over("min/max", _list_variables(names)), " ", inside)


def sum_over(names: Iterable[str], law: Sentence, inside: Sentence) -> Sentence:
    """Write "sum over these variables of their law times" in front of a formula.

    The words are part of a rule's claim in explanations.
    """
    over = Over("sum", _list_variables(names))
    return Sentence.of(over, " ", law, " ", Sign("x"), " ", enclose(inside))


def divide(formula: Sentence, base: Expression | None) -> Sentence:
    """Write ``formula / base`` in words of a claim, ``base`` the law of the context.

    The formula alone without ``base``.
    """
    if base is None:
        return formula
    return Sentence.of(formula, " ", Sign("/"), " ", make_sentence(base))


def enclose(inside: Sentence) -> Sentence:
    """Put a formula in brackets, so that it can follow a sum or min/max."""
    if any(isinstance(part, str) and part.strip() for part in inside.parts):
        return Sentence.of("(", inside, ")")
    return Sentence.of(Group(inside.parts))


def write_population_law(of: Iterable[str], given: Nodes) -> Term:
    """Write the law of some variables in the population, ``P*(of | given)``.

    >>> print(write_population_law(["Y", "X"], frozenset("Z")))
    P*(Y, X | Z)
    """
    return Term("P*", _list_variables(of), _list_variables(sort_names(given)))


def write_reweighting(steering: Iterable[Nodes], statement: str) -> Sentence:
    """Write the end of a claim: what ``P*`` is, and the facts that its weights ``r`` must fit.

    ``P*`` is the law of the population, the log reweighted by ``r``.

    >>> print(write_reweighting([frozenset("Z")], "r >= 0.5"))
    , where P*(v) = P(v | S=1) r(Z) is the population's law and r any that fits: r >= 0.5
    """
    value = Variable("v")
    by = [
        Term("r", _list_variables(sort_names(names))) if names else "r"
        for names in dict.fromkeys(steering)
    ]
    weights = [part for one in by for part in (" or ", one)][1:]
    return Sentence.of(
        ", where ",
        Term("P*", (value,)),
        " = ",
        Term("P", (value,), (Variable("S", value="1"),)),
        " ",
        *weights,
        f" is the population's law and r any that fits: {statement}",
    )


def _list_variables(names: Iterable[str]) -> tuple[Variable, ...]:
    """Turn names into variables of a formula, in the order given and written without quotes."""
    return tuple(Variable(name, bare=True) for name in names)

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
    """Write that the least and the greatest over some variables are taken.

    Called by ``Substitution.write_record``, and by ``write_links`` for links of unknown weight.

    >>> print(take_extremes(["W"], Sentence.of("...")))
    min/max over W of ...
    """
    return Sentence.of(Over("min/max", _list_variables(names)), " ", inside)


def sum_over(names: Iterable[str], law: Sentence, inside: Sentence) -> Sentence:
    """Write that the mean over a law of some variables is taken.

    Called by ``write_links`` and ``ReweightedChain._write_links`` for links of known weight.
    """
    over = Over("sum", _list_variables(names))
    return Sentence.of(over, " ", law, " ", Sign("x"), " ", enclose(inside))


def divide(formula: Sentence, base: Expression | None) -> Sentence:
    """Write a formula, divided by the law of the context where there is one.

    Called by ``Substitution.write_record`` and ``Factorization.write_record``.
    """
    if base is None:
        return formula
    return Sentence.of(formula, " ", Sign("/"), " ", make_sentence(base))


def enclose(inside: Sentence) -> Sentence:
    """Put what others follow in brackets. Called by ``sum_over`` and ``_write_claim``."""
    if any(isinstance(part, str) and part.strip() for part in inside.parts):
        return Sentence.of("(", inside, ")")
    return Sentence.of(Group(inside.parts))


def write_population_law(of: Iterable[str], given: Nodes) -> Term:
    """Write the law of some variables in the population, ``P*(of | given)``.

    Called by the rules that reweight the log, ``NaturalBounds.write_record`` for one.

    >>> print(write_population_law(["Y", "X"], frozenset("Z")))
    P*(Y, X | Z)
    """
    return Term("P*", _list_variables(of), _list_variables(sort_names(given)))


def write_reweighting(steering: Iterable[Nodes], statement: str) -> Sentence:
    """Write what the law of the population is, and what is known of its weights.

    Called by the rules that reweight the log, ``NaturalBounds.write_record`` for one.

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
    """List variables in the order given, without quotes. Called by whatever is above."""
    return tuple(Variable(name, bare=True) for name in names)

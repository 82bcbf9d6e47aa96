import pytest
from hypothesis import given

from boundit.bounds.approximate.flat_formula import FlatFormula, FlatWriter, TooManyTerms
from boundit.bounds.confidence import collect_terms
from boundit.estimand.language.expression import Expression, P, Product, Ratio, Sum
from tests.strategies import formulas

X, Y, Z = (frozenset(name) for name in "XYZ")
LEVELS = {"X": 2, "Y": 2, "Z": 3}


def list_terms(flat: FlatFormula) -> frozenset[P]:
    own = frozenset(each.term for each in flat.occurrences)
    return own.union(*map(list_terms, flat.bottoms))


@given(formulas)
def test_a_flat_formula_has_the_terms_and_free_variables_of_the_formula(
    formula: Expression,
) -> None:
    flat = FlatWriter(LEVELS).write(formula, {})

    assert list_terms(flat) == collect_terms([formula])
    assert flat.free == formula.free
    assert flat.free.isdisjoint(flat.summed)


def test_sums_over_the_same_variable_get_variables_of_their_own() -> None:
    front_door = Sum(Z, Product((P(Z, X), Sum(X, Product((P(X), P(Y, X | Z)))))))

    flat = FlatWriter(LEVELS).write(front_door, {})

    names = {each.term: each.names for each in flat.occurrences}
    assert names[P(Z, X)]["X"] == "X"
    assert names[P(X)]["X"] == names[P(Y, X | Z)]["X"] == "X'"


def test_a_sum_over_what_its_body_does_not_name_repeats_it() -> None:
    assert FlatWriter(LEVELS).write(Sum(Z, P(Y, X)), {}).times == 3


def test_what_is_below_a_line_is_kept_apart() -> None:
    flat = FlatWriter(LEVELS).write(Ratio(P(Y), Sum(Z, P(X | Z))), {})

    assert [below.free for below in flat.bottoms] == [X]


def test_a_formula_that_grows_without_end_is_refused() -> None:
    formula: Expression = P(X)
    for _ in range(9):
        formula = Product((formula, formula))

    with pytest.raises(TooManyTerms, match="200 terms"):
        FlatWriter(LEVELS).write(formula, {})

"""What people and programs read."""

from boundit.estimand.language.expression import ONE, CFactor, P, Product, Ratio, Sum
from boundit.estimand.language.notation import write_text
from boundit.estimand.language.render import write_latex
from tests.nodes import make_nodes

X, Y, Z = make_nodes("X"), make_nodes("Y"), make_nodes("Z")
ADJUSTED = Sum(Z, Product((P(Y, X | Z), P(Z, logged=False))))


def test_every_term_says_whom_it_speaks_of() -> None:
    assert write_text(ADJUSTED) == "Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert write_latex(ADJUSTED) == r"\sum_{Z} P(Y \mid X, Z, S{=}1)\, P(Z)"


def test_a_bound_variable_that_hides_another_is_primed() -> None:
    """Front-door: the inner x is not the x that is set."""
    inner = Sum(X, Product((P(Y, X | Z), P(X))))
    formula = Sum(Z, Product((P(Z, X), inner)))

    assert write_text(formula) == "Σ_{Z} P(Z | X, S=1) Σ_{X'} P(X' | S=1) P(Y | X', Z, S=1)"
    assert "X'" in write_latex(formula)
    twice = Product((P(X), Sum(X, Product((P(X), Sum(X, P(X)))))))
    assert write_text(twice) == "P(X | S=1) Σ_{X'} P(X' | S=1) Σ_{X''} P(X'' | S=1)"


def test_a_sum_before_another_factor_stands_in_brackets() -> None:
    both = Product((Sum(X, P(X)), Sum(Z, P(Z))))

    assert write_text(both) == "(Σ_{X} P(X | S=1)) Σ_{Z} P(Z | S=1)"
    assert write_latex(both).startswith(r"\left(\sum_{X}")
    assert (
        write_text(Product((Ratio(P(X), P(Y)), P(Z))))
        == "P(Z | S=1) [P(X | S=1)] / [P(Y | S=1)]"
    )


def test_ratios_and_factors() -> None:
    assert write_text(Ratio(CFactor(X | Y), ONE)) == "[Q[X, Y]] / [1]"
    assert write_latex(Ratio(CFactor(X), ONE)) == r"\frac{Q[X]}{1}"


def test_odd_names_are_spelled_safely() -> None:
    odd = P(make_nodes("time of day", "age_1", "X10", "X2"), logged=False)

    assert write_text(odd) == 'P(X2, X10, age_1, "time of day")'
    assert write_latex(odd) == r"P(X2, X10, \mathrm{age\_1}, \mathrm{time\ of\ day})"

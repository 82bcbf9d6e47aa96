import numpy as np
import pytest

from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.rules.factorization import divide_ends, factorize_effect
from boundit.counts.formulas.evaluate import Evaluator
from boundit.estimand.language.expression import P
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from tests.paper import FIGURE_2


def test_the_worked_example_loses_the_factors_of_the_reward_and_of_u1() -> None:
    """Eq. 11, with I1 where it belongs: Q[I1, Y] and Q[U1] are lost, Q[U2] is not."""
    query = parse_query("Y | do(X1, X2), U1, U2")
    found = factorize_effect(FIGURE_2, query, P(frozenset({"U1", "U2"})))

    lost = {part for part, answer in found.factors if not answer}
    assert lost == {frozenset({"I1", "Y"}), frozenset({"U1"})}
    assert found.summed == ("I1",)
    assert "[0 to 1]" in str(found.write_record().claim)


def test_a_sum_of_recovered_factors_is_the_effect() -> None:
    """Theorem 2, eq. 4: the front door, where every factor is recovered."""
    model = Model.of(
        {
            "U": ([], 0.5),
            "X": (["U"], [0.2, 0.8]),
            "M": (["X"], [0.3, 0.6]),
            "Y": (["M", "U"], [[0.1, 0.5], [0.4, 0.9]]),
        },
        hidden="U",
    )
    query = parse_query("Y | do(X)")
    law = model.law()
    found = factorize_effect(model.graph, query, None).find_ends(
        PlugInNumbers(Evaluator(law, [law]))
    )

    truth = model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
    assert found.lower == pytest.approx(truth)
    assert found.upper == pytest.approx(truth)


def test_a_lost_factor_makes_the_lower_end_0_and_the_sum_is_clipped() -> None:
    """Theorem 3: the sum counts 1 for each value of M and would pass 1."""
    model = Model(
        parse("X -> M -> Y; M -> [S]"),
        {
            "X": ([], 0.5),
            "M": (["X"], [0.3, 0.6]),
            "Y": (["M"], [0.7, 0.9]),
            "S": (["M"], [0.2, 0.7]),
        },
    )
    found = factorize_effect(model.graph, parse_query("Y | do(X)"), None)
    numbers = PlugInNumbers(Evaluator(model.log()))

    assert found.find_ends(numbers).lower.tolist() == [0, 0]
    assert found.find_ends(numbers).upper.tolist() == [1, 1]


def test_what_is_divided_by_nothing_is_unknown() -> None:
    zero = np.zeros(1)
    ends = divide_ends(np.array([0.2]), np.array([0.4]), zero, zero)

    assert (ends.lower.tolist(), ends.upper.tolist()) == ([0.0], [1.0])
    ends = divide_ends(np.array([0.2]), np.array([0.4]), np.array([0.5]), np.array([0.8]))
    assert (ends.lower.tolist(), ends.upper.tolist()) == ([0.25], [0.8])

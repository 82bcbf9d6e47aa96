"""What programs read."""

import json
from random import Random

from boundit.estimand.language.expression import CFactor, P, Product, Ratio, Sum
from boundit.estimand.language.record import to_record
from tests.estimand.language.test_simplify import random_formula
from tests.nodes import make_nodes

X, Y, Z = make_nodes("X"), make_nodes("Y"), make_nodes("Z")


def test_every_part_has_its_key() -> None:
    formula = Sum(Z, Product((P(Y, X | Z), Ratio(P(Z, logged=False), CFactor(X)))))

    assert to_record(formula) == {
        "sum": ["Z"],
        "of": {
            "product": [
                {"p": ["Y"], "given": ["X", "Z"], "logged": True},
                {"ratio": [{"p": ["Z"], "given": [], "logged": False}, {"factor": ["X"]}]},
            ]
        },
    }


def test_different_formulas_have_different_records() -> None:
    rng = Random(0)
    formulas = {random_formula(rng, 4) for _ in range(100)}

    assert len({json.dumps(to_record(formula)) for formula in formulas}) == len(formulas)

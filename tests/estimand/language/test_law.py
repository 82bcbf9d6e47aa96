"""Laws as conditionals: dividing and summing keep them true."""

import numpy as np

from boundit.counts.evaluate import evaluate
from boundit.estimand.language.law import order_from_end, write_observed_law
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.estimand.truth import random_cases
from tests.nodes import make_nodes

CHAIN = parse("X -> M -> Y; Z -> Y")


def test_the_order_is_causal_and_takes_the_late_ones_late() -> None:
    assert order_from_end(CHAIN, [make_nodes("M", "X")]) == ("Z", "X", "M", "Y")
    assert order_from_end(CHAIN, [make_nodes("Z")]) == ("X", "M", "Z", "Y")
    assert order_from_end(parse("A -> B; A -> C"), [make_nodes("B")]) == ("A", "C", "B")
    assert order_from_end(parse("A -> B; A -> C"), [make_nodes("C"), make_nodes("B")]) == (
        "A",
        "B",
        "C",
    )


def test_the_conditionals_multiply_to_the_log_and_to_its_margins() -> None:
    for i, case in enumerate(random_cases(60, seed=3)):
        log = draw_model(case.graph, np.random.default_rng(i)).log()
        law = write_observed_law(case.graph, (case.treatments,))
        kept = case.graph.ancestors(case.outcomes | case.context)

        for part, names in ((law, case.graph.observed), (law.marginalize(kept), kept)):
            value, truth = evaluate(part.write_formula(), log), log.marginalize(names)
            np.testing.assert_allclose(value.align(truth.axes), truth.values, atol=1e-12)


def test_summing_out_the_last_variables_costs_nothing() -> None:
    law = write_observed_law(parse("A -> B -> C; A -> D"))

    assert law.marginalize(make_nodes("A", "B")).order == ("A", "B")
    assert law.marginalize(make_nodes("A")).conditional("A") == law.conditional("A")

"""Laws that a limit reads: a formula's numbers, or ends over populations."""

import numpy as np

from boundit.bounds.confounding.laws import list_formulas, read_law, write_law
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.rules.chain import KnownFormula
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.formulas.evaluate import Evaluator
from boundit.estimand.language.expression import P
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.terms.long_work import FOR_EVER

GRAPH = parse("X -> Y -> [S]")


def make_numbers(model: Model) -> PlugInNumbers:
    log = model.log()
    return PlugInNumbers(Evaluator(log, (log,)))


def test_a_formula_is_read_with_the_variable_as_last_axis() -> None:
    model = draw_model(GRAPH, np.random.default_rng(0), levels=(2,))
    law = KnownFormula(P(frozenset("Y"), frozenset("X")), ())
    low, high = read_law(law, "Y", ("X",), make_numbers(model), FOR_EVER)

    wanted = model.log().condition_on("X").align(("X", "Y"))
    assert np.allclose(low, wanted)
    assert np.allclose(high, wanted)
    assert list_formulas(law) == (law.expression,)
    assert str(write_law(law)) == "P(Y | X, S=1)"


def test_a_reweighted_log_holds_the_law_of_everyone_between_its_ends() -> None:
    rng, widths = np.random.default_rng(1), []
    for _ in range(10):
        model = draw_model(GRAPH, rng, levels=(2,))
        rate = model.selection_rate()
        facts = SelectionFacts((rate, rate))
        reweighting = Reweighting.from_graph(GRAPH, frozenset("XY"), facts)
        block = ReweightedBlock(("Y",), frozenset("X"), reweighting)
        low, high = read_law(block, "Y", ("X",), make_numbers(model), FOR_EVER)

        truth = model.law().condition_on("X").align(("X", "Y"))
        assert (low <= truth + 1e-6).all()
        assert (high >= truth - 1e-6).all()
        widths.append(float((high - low).max()))
    assert min(widths) < 0.9
    assert str(write_law(block)) == "P*(Y | X)"
    assert list_formulas(block) == reweighting.formulas

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import linprog

from boundit.bounds.derive import derive_bounds
from boundit.bounds.lp.population import MOST_CELLS, SUMS, Populations
from boundit.bounds.lp.program import SolveStatus
from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import Expression, P
from boundit.graph.text import parse
from boundit.simulation.model import Model
from tests.bounds.exact import as_log, questions
from tests.bounds.reweighted import plug_in, true_facts
from tests.nodes import make_nodes

GRAPH = parse("X -> M -> Y; M -> [S]")
# P(m, x) among the logged; the third m was never logged.
LOGGED = NamedArray(("M", "X"), np.array([[0.1, 0.3], [0.4, 0.2], [0.0, 0.0]]))


def make_populations(facts: SelectionFacts, *tables: NamedArray) -> Populations:
    names = [frozenset(table.axes) for table in tables]
    model = Reweighting.from_graph(GRAPH, make_nodes("M", "X"), facts, names)
    return Populations(model, PlugInNumbers(Evaluator(LOGGED, tables)))


def find_ends(found: Populations, weights: Floats) -> tuple[float, float]:
    """The least and greatest weighted mass of a law."""
    layout = found.lay_out(weights)
    total = np.eye(layout.n_columns)[0]
    program = found.write_rows(layout, total).make_program(SUMS)
    form = found.write_form(weights, layout)
    return program.minimise(form).bound, program.maximise(form).bound


def test_a_rate_bounds_each_mass_from_below() -> None:
    """Section 3.5: q(m) = P(m | S=1) r(m) and r >= P(S=1)."""
    found = make_populations(SelectionFacts((0.5, 0.9)))

    assert find_ends(found, found.weigh_cells({"M": 0})) == pytest.approx((0.2, 0.7), abs=1e-8)
    assert find_ends(found, found.weigh_cells({"M": 0, "X": 0})) == pytest.approx(
        (0.05, 0.175), abs=1e-8
    )


def test_a_value_never_logged_may_have_any_mass_spread_in_any_way() -> None:
    found = make_populations(SelectionFacts())

    assert find_ends(found, found.weigh_cells({"M": 2, "X": 1})) == pytest.approx(
        (0, 1), abs=1e-8
    )
    assert find_ends(found, found.weigh_cells({"M": 2})) == pytest.approx((0, 1), abs=1e-8)


def test_a_limit_says_that_everybody_may_be_logged() -> None:
    found = make_populations(SelectionFacts(None, 1.5))

    assert find_ends(found, found.weigh_cells({"M": 2})) == pytest.approx((0, 0), abs=1e-8)
    assert find_ends(found, found.weigh_cells({"M": 0})) == pytest.approx(
        (0.4 / 1.5, 0.6), abs=1e-8
    )


def test_a_table_fixes_sums_of_masses() -> None:
    table = NamedArray(("X",), np.array([0.5, 0.5]))
    found = make_populations(SelectionFacts(None, 10.0), table)

    # P(x=0) = q0 / 4 + 2/3 q1 = 1/2 and q0 + q1 = 1.
    assert find_ends(found, found.weigh_cells({"M": 0})) == pytest.approx((0.4, 0.4), abs=1e-8)
    assert found.may_exist()


def test_a_table_that_no_reweighting_gives_is_refuted() -> None:
    table = NamedArray(("X",), np.array([0.9, 0.1]))

    assert not make_populations(SelectionFacts(None, 10.0), table).may_exist()
    assert make_populations(SelectionFacts(), table).may_exist()


def test_what_was_logged_surely_happens() -> None:
    for facts in (SelectionFacts(), SelectionFacts((0.5, 0.5))):
        found = make_populations(facts)

        assert found.has_logged({"M": 0})
        assert not found.has_logged({"M": 2, "X": 1})
    alone = Reweighting(make_nodes("M"), make_nodes("M"), SelectionFacts((0.5, 0.5)))
    numbers = PlugInNumbers(Evaluator(LOGGED.marginalize("M")))
    assert Populations(alone, numbers).has_logged({"M": 1})
    assert not Populations(alone, numbers).has_logged({"M": 2})


def test_too_many_cells_are_noticed() -> None:
    n = MOST_CELLS
    law = NamedArray(("M", "X"), np.full((n, 2), 1 / (2 * n)))
    model = Reweighting.from_graph(GRAPH, make_nodes("M", "X"), SelectionFacts())

    assert Populations(model, PlugInNumbers(Evaluator(law))).has_too_many_cells
    assert not make_populations(SelectionFacts()).has_too_many_cells


@dataclass(frozen=True)
class Between:
    """Numbers known between two ends."""

    low: Floats
    high: Floats
    levels: Mapping[str, int] = field(default_factory=lambda: {"M": 2, "X": 3})
    workspace: Workspace = field(default_factory=Workspace.make_default)

    def read_ends(self, _: Expression, __: Sequence[str]) -> tuple[Floats, Floats]:
        return self.low, self.high

    def find_error(self, term: P) -> None:
        """Nothing here allows for chance."""


def test_shares_between_two_ends_are_those_of_the_whole_program() -> None:
    """Section 3.6: cells that nothing asks for are left out without a loss."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        share = rng.dirichlet(np.ones(3), size=2)
        low, high = share * rng.uniform(0.5, 1, (2, 3)), share * rng.uniform(1, 1.5, (2, 3))
        found = Populations(
            Reweighting(make_nodes("M", "X"), make_nodes("M")), Between(low, high)
        )
        weights = found.weigh_cells({"M": 0}, np.array([rng.random(), 0.0, 0.0]))
        # All cells of both steering values: shares add up to one, masses to one.
        peer = linprog(
            -weights[0],
            A_eq=np.ones((1, 3)),
            b_eq=[1],
            bounds=list(zip(low[0], high[0].clip(max=1), strict=True)),
        )

        assert find_ends(found, weights)[1] == pytest.approx(-peer.fun, abs=1e-7)


@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_the_true_population_is_always_possible(zeros: float) -> None:
    """So a program never refutes what is true, structural zeros or not."""
    for asked in questions(25, 11, zeros=zeros, selection=True):
        model = asked.model
        numbers = plug_in(model, asked.tables)
        for facts in true_facts(model):
            law = Reweighting.from_graph(model.graph, model.graph.observed, facts, asked.tables)
            found = Populations(law, numbers)
            if found.has_too_many_cells:
                continue
            truth = model.law().align(found.axes)
            assert found.may_exist()
            for weights in _list_weights(found):
                low, high = find_ends(found, weights)
                assert low - 1e-8 <= (weights * truth).sum() <= high + 1e-8


def _list_weights(found: Populations) -> list[Floats]:
    rng = np.random.default_rng(len(found.axes))
    return [rng.random(found.shape).round(1) for _ in range(2)]


def test_an_unfinished_search_still_proves_an_end() -> None:
    found = make_populations(SelectionFacts((0.5, 0.9)))
    weights = found.weigh_cells({"M": 0})
    layout = found.lay_out(weights)
    program = found.write_rows(layout, np.eye(layout.n_columns)[0]).make_program(SUMS)
    form = found.write_form(weights, layout)
    stopped = program.maximise(form, seconds=0.0)

    assert stopped.status in {SolveStatus.UNFINISHED, SolveStatus.OPTIMAL}
    assert stopped.bound >= 0.7


@pytest.mark.parametrize("rare", [1e-4, 1e-6, 1e-8, 1e-10])
def test_what_hardly_anyone_has_is_not_read_off_rounding(rare: float) -> None:
    """Chances that a solver drops, and masses that magnify its tolerance, say nothing."""
    graph, rng = parse("X -> Y; C -> Y; Y -> [S]; X -> [S]"), np.random.default_rng(0)
    for facts in (False, True):
        for _ in range(4):
            r = rng.random(9)
            tables: dict[str, tuple[list[str], object]] = {
                "C": ([], rare),
                "X": ([], 0.3 + 0.4 * r[0]),
                "Y": (["X", "C"], r[1:5].reshape(2, 2)),
                "S": (["X", "Y"], r[5:].reshape(2, 2) * 0.9 + 0.05),
            }
            model = Model(graph, tables)  # type: ignore[arg-type]
            table = derive_bounds(
                graph,
                "Y | do(X), C",
                as_log(model.log()),
                confidence=None,
                selection_rate=model.selection_rate() if facts else None,
            )
            effect = model.effect(outcomes="Y", treatments="X", context="C").at({"Y": 1})
            mean = effect.align(("X", "C"))
            for x, c in np.ndindex(2, 2):
                bound = table[x, c]
                assert bound.lower - 1e-9 <= mean[x, c] <= bound.upper + 1e-9

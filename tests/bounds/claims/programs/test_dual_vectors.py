"""Multipliers prove what they say at every law, not only at the pilot's."""

import numpy as np
import pytest

from boundit.bounds.claims.programs.dual_vectors import (
    DualFinder,
    DualVector,
    DualVectors,
    Found,
    PilotLaw,
    fit_law,
    make_natural_vectors,
    may_pool,
    rank_vectors,
    weigh_vectors,
)
from boundit.bounds.lp.program import Optimum, Program
from boundit.bounds.rules.response_program import (
    ProgramLayout,
    ResponseProgram,
    solve_program,
)
from boundit.counts.named_array import Floats, NamedArray
from boundit.graph.text import parse
from boundit.terms.long_work import FOR_EVER
from tests.bounds.claims.programs.rules import (
    BOW,
    INSTRUMENT,
    MEDIATOR,
    STRATA,
    find_form_with,
)
from tests.bounds.programs import models, numbers, specs, truth

DRAWN = [INSTRUMENT, BOW, MEDIATOR, "Z -> X -> Y; X <-> Y; W -> X; W -> Y"]


def read_law(layout: ProgramLayout, law: NamedArray) -> Floats:
    low, _ = layout.read_law(numbers(law))
    return low


def make_pilot(shares: Floats, rows: float = 1_000.0, seen: float = 100.0) -> PilotLaw:
    per_scenario = np.ones(shares.shape[:2])
    return PilotLaw(shares, rows * per_scenario, seen * per_scenario)


def find(
    layout: ProgramLayout, shares: Floats, draws: int = 4, *, shared: bool = False
) -> tuple[Found, Found]:
    rng, law = np.random.default_rng(0), make_pilot(shares)
    finder = DualFinder(layout, law, budget=FOR_EVER, rng=rng, draws=draws, shared=shared)
    found = finder.find_vectors()
    assert found is not None
    return found


def prove(several: list[DualVector], shares: Floats) -> float:
    values, _ = weigh_vectors(several, shares[None], np.ones((1, len(shares))))
    return float(values.max())


def list_plain_specs(drawn: str) -> list[ResponseProgram]:
    return [spec for spec in specs(parse(drawn)) if not spec.weights]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("drawn", DRAWN)
def test_vectors_hold_for_every_type(drawn: str, shared: bool) -> None:
    """Weak duality: no type earns less than its multipliers say, for either end."""
    for model in models(drawn, 2, np.random.default_rng(3)):
        for spec in list_plain_specs(drawn):
            layout = ProgramLayout(spec, model.n_levels)
            shares = read_law(layout, model.law())
            for upper, found in enumerate(find(layout, shares, shared=shared)):
                for a, arm in enumerate(layout.arms):
                    check_every_type(layout, arm, found[a :: len(layout.arms)], upper > 0)


def check_every_type(
    layout: ProgramLayout, arm: dict[str, int], found: Found, upper: bool
) -> None:
    scenarios = range(len(layout.outer))
    runs = layout.list_types([arm], scenarios, 10**6)
    assert runs is not None
    (target,) = layout.find_successes(runs, len(layout.outer))
    earned = np.where(target.pays != upper, 1.0, 0.0)
    cells = [runs.find_cells(s, layout.spec.inside) for s in scenarios]
    for vector in (vector for several in found for vector in several):
        said = sum(vector.multipliers[s, cells[s]] for s in scenarios)
        proved = vector.constant + said
        assert (proved <= earned).all()
        assert vector.least <= proved.min()
        assert proved.max() <= vector.most
        assert (vector.multipliers.min(axis=1) == 0).all()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("drawn", DRAWN)
def test_best_vectors_prove_the_ends_of_the_program(drawn: str, shared: bool) -> None:
    for model in models(drawn, 2, np.random.default_rng(3)):
        for spec in list_plain_specs(drawn):
            layout = ProgramLayout(spec, model.n_levels)
            law = model.law()
            shares = read_law(layout, law)
            ends = solve_program(layout, numbers(law), FOR_EVER)
            lower, upper = (
                np.array(
                    [
                        prove(several, shares[i // len(layout.arms)])
                        for i, several in enumerate(found)
                    ]
                ).reshape(ends.lower.shape)
                for found in find(layout, shares, shared=shared)
            )
            assert lower == pytest.approx(ends.lower, abs=1e-7)
            assert 1 - upper == pytest.approx(ends.upper, abs=1e-7)
            assert (lower <= truth(model, spec) + 1e-9).all()


@pytest.mark.parametrize("drawn", [INSTRUMENT, MEDIATOR])
def test_fitted_law_is_one_of_types(drawn: str) -> None:
    """Even where the pilot's shares contradict the graph, the fitted ones do not."""
    spec, *_ = list_plain_specs(drawn)
    layout = ProgramLayout(spec, dict.fromkeys("ZXMY", 2))
    shape = 3, len(layout.outer), len(layout.inner)
    counts = np.random.default_rng(3).integers(0, 4, shape).astype(np.float64)
    counts[0] = 0.0  # a condition that the pilot never saw
    shares = fit_law(layout, counts)
    assert shares.sum(axis=2) == pytest.approx(1.0)
    finder = find(layout, shares[:1], draws=0)
    assert all(several[0].multipliers.any() for several in finder[0])


def test_fitted_law_is_near_the_log() -> None:
    (model,) = models(INSTRUMENT, 1, np.random.default_rng(3))
    spec, *_ = list_plain_specs(INSTRUMENT)
    layout = ProgramLayout(spec, model.n_levels)
    shares = read_law(layout, model.law())
    assert fit_law(layout, 1e6 * shares) == pytest.approx(shares, abs=0.02)


def test_natural_vectors_count_who_chose_the_arm() -> None:
    (spec,) = list_plain_specs(BOW)
    layout = ProgramLayout(spec, {"X": 3, "Y": 2})
    lower, upper = (make_natural_vectors(layout, upper=upper) for upper in (False, True))
    for x in range(3):
        won, lost = ([{"X": x, "Y": y}] for y in (1, 0))
        for vectors, cells in ((lower, won), (upper, lost)):
            chosen = np.flatnonzero(vectors.multipliers[x, 0])
            assert [layout.inner[cell] for cell in chosen] == cells


def test_conditions_share_vectors_and_few_programs_are_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of many laws has its best multipliers, though most are never asked for them."""
    asked, minimise = list[int](), Program.minimise

    def count(self: Program, cost: Floats, *, seconds: float | None = None) -> Optimum:
        asked.append(1)
        return minimise(self, cost, seconds=seconds)

    spec = find_form_with(STRATA, "W", "Z").program
    layout = ProgramLayout(spec, {"W": 60, "Z": 2, "X": 2, "Y": 2})
    n_laws, rng = len(layout.fixed), np.random.default_rng(3)
    runs = layout.list_types([], range(2), 10**4)
    assert runs is not None
    assert n_laws == 60
    types = rng.dirichlet(np.full(runs.n_types, 0.3), n_laws)
    cells = [np.eye(4)[runs.find_cells(s, spec.inside)] for s in range(2)]
    shares = np.stack([types @ each for each in cells], axis=1)
    alone = find(layout, shares, draws=0)
    monkeypatch.setattr(Program, "minimise", count)
    shared = find(layout, shares, draws=0, shared=True)
    assert len(asked) < n_laws * 4 / 2  # two arms, two ends
    for own, all_of_them in zip(alone, shared, strict=True):
        for place, (few, many) in enumerate(zip(own, all_of_them, strict=True)):
            law = shares[place // 2]
            assert prove(many, law) >= prove(few, law) - 1e-7


def make_vector(*multipliers: float) -> DualVector:
    return DualVector(0.0, np.array([multipliers]), 0.0, 1.0)


def test_errors_matter_less_where_places_are_summed() -> None:
    """What proves a little more at a large error is best in a sum of many places."""
    sure, bold = make_vector(0.4, 0.4), make_vector(0.0, 0.95)
    law = make_pilot(np.full((30, 1, 2), 0.5), rows=100.0)
    found = [[sure, bold] for _ in range(30)]

    def take_first(weights: tuple[Floats, tuple[int, ...]] | None) -> DualVectors:
        return rank_vectors(found, law, (30,), weights, 1)[0]

    alone = take_first(None)
    summed = take_first((np.full((1, 30), 1 / 30), (1,)))
    assert (alone.multipliers == sure.multipliers).all()
    assert (summed.multipliers == bold.multipliers).all()


def test_ranks_are_padded_with_the_last() -> None:
    one, other = make_vector(0.0, 1.0), make_vector(0.0, 0.5)
    law = make_pilot(np.full((2, 1, 2), 0.5))
    first, second = rank_vectors([[other, one], [one]], law, (2,), None, 4)
    assert (first.multipliers == one.multipliers).all()
    assert second.multipliers[0, 0, 1] == 0.5
    assert second.multipliers[1, 0, 1] == 1.0


def test_natural_bounds_of_all_rows_hold_beside_an_instrument() -> None:
    """Each scenario alone proves as much, so that rows may be thrown together."""
    spec, *_ = list_plain_specs(INSTRUMENT)
    assert may_pool(spec)
    layout = ProgramLayout(spec, dict.fromkeys("ZXY", 2))
    for upper in (False, True):
        vectors = make_natural_vectors(layout, upper=upper)
        assert vectors.pooled
        for a, arm in enumerate(layout.arms):
            for scenario in range(len(layout.outer)):
                alone = np.zeros_like(vectors.multipliers[a])
                alone[scenario] = vectors.multipliers[a, scenario]
                vector = DualVector(0.0, alone, 0.0, 1.0)
                check_every_type(layout, arm, [[vector]], upper)


def test_treatment_that_is_an_instrument_cannot_be_pooled() -> None:
    for spec in specs(parse(INSTRUMENT), x="X Z"):
        if "Z" in spec.varied:
            assert not may_pool(spec)


def test_drawn_laws_are_near_the_pilots() -> None:
    law = make_pilot(np.full((1, 2, 4), 0.25), seen=1e6)
    drawn = law.draw(5, np.random.default_rng(0))
    assert drawn.shape == (5, 1, 2, 4)
    assert drawn == pytest.approx(0.25, abs=0.01)

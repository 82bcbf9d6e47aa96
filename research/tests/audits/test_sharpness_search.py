"""The search goes as far as closed forms, programs over all types and sweeps say one can."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import linprog

from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.sharpness_family import ModelFamily
from boundit_research.audits.sharpness_search import SearchTarget, find_furthest

QUERY = parse_query("Y | do(X)")
SIGNS = (-1, 1)


def draw_binary_model(text: str, seed: int) -> SCM:
    return draw_model(parse(text), default_rng(seed), levels=(2,), floor=0.1)


def search_effect(
    model: SCM, log: NamedArray, rate: float | None, sign: int, arm: int
) -> float:
    family = ModelFamily(model.graph, levels=6)
    starts = default_rng(1).normal(size=(6, family.size))
    answer = find_furthest(
        SearchTarget(family, QUERY, {"X": arm}, log, rate, sign), starts, 300
    )
    assert answer is not None
    assert 1 <= answer.agreed <= 6
    return answer.effect


@pytest.mark.parametrize("seed", range(3))
def test_the_bow_reaches_manskis_bounds(seed: int) -> None:
    model = draw_binary_model("X -> Y; X <-> Y", seed)
    law = model.log()
    won, lost = law.values[1, 1], law.values[1, 0]

    least, most = (search_effect(model, law, 1.0, sign, arm=1) for sign in SIGNS)

    assert least == pytest.approx(won, abs=1e-5)
    assert most == pytest.approx(1 - lost, abs=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_the_instrument_reaches_a_program_over_all_sixteen_types(seed: int) -> None:
    """Balke and Pearl's bounds, by a linear program of the test's own."""
    model = draw_binary_model("Z -> X -> Y; X <-> Y", seed)
    law = model.log()
    shown = law.condition_on("Z").align(["Z", "X", "Y"])

    ends = [search_effect(model, law, 1.0, sign, arm=0) for sign in SIGNS]

    assert ends == pytest.approx(solve_balke_pearl(shown, arm=0), abs=1e-5)


def solve_balke_pearl(shown: Floats, arm: int) -> list[float]:
    types = list(product(product((0, 1), repeat=2), repeat=2))
    rows = [
        [float(of_x[z] == x and of_y[x] == y) for of_x, of_y in types]
        for z, x, y in product((0, 1), repeat=3)
    ]
    paid = np.array([float(of_y[arm]) for _, of_y in types])
    return [s * linprog(s * paid, A_eq=rows, b_eq=shown.ravel()).fun for s in (1, -1)]


@pytest.mark.parametrize("rate_known", [False, True])
def test_a_front_door_reaches_a_sweep_of_its_one_unknown(rate_known: bool) -> None:
    """Everyone is the log times r(M), of which one ratio is unknown; r is at least P(S=1)."""
    model = draw_binary_model("X -> M -> Y; X <-> Y; M -> [S]", 3)
    log, rate = model.log(), model.selection_rate() if rate_known else None

    ends = [search_effect(model, log, rate, sign, arm=1) for sign in SIGNS]

    swept = list_front_door_effects(log.align(["X", "M", "Y"]), rate or 0.0)
    assert ends == pytest.approx([min(swept), max(swept)], abs=1e-3)


def list_front_door_effects(log: Floats, rate: float) -> list[float]:
    effects = []
    for ratio in np.exp(np.linspace(-14, 14, 3_000)):
        r = np.array([1, ratio])
        r /= (log * r[:, None]).sum()
        if r.min() >= rate:
            law = log * r[:, None]
            of_x = law.sum(axis=(1, 2))
            of_m = law[1].sum(axis=1) / of_x[1]
            of_y = law[:, :, 1] / law.sum(axis=2)
            effects.append(float(of_m @ (of_x @ of_y)))
    return effects


def test_a_context_is_conditioned_on_however_rare_it_can_be() -> None:
    """Selected on W, its law is free; given W, Manski's bounds hold and are reached."""
    model = draw_binary_model("W -> X -> Y; W -> Y; X <-> Y; W -> [S]", 5)
    family = ModelFamily(model.graph, levels=6)
    query, at = parse_query("Y | do(X), W"), {"X": 0, "W": 1}
    starts = default_rng(1).normal(size=(6, family.size))
    shown = model.log().condition_on("W").at(at)
    ends = {-1: float(shown.at({"Y": 1})), 1: 1 - float(shown.at({"Y": 0}))}

    for sign, end in ends.items():
        answer = find_furthest(
            SearchTarget(family, query, at, model.log(), None, sign), starts, 300
        )
        assert answer is not None
        assert answer.effect == pytest.approx(end, abs=1e-4)


def test_only_models_that_show_the_log_count() -> None:
    model, other = (draw_binary_model("X -> Y; Y -> [S]", seed) for seed in (0, 1))
    family = ModelFamily(model.graph, levels=2)

    def aim(rate: float | None) -> SearchTarget:
        return SearchTarget(family, QUERY, {"X": 0}, model.log(), rate, 1)

    assert aim(None).is_matched_by(model)
    assert aim(model.selection_rate()).is_matched_by(model)
    assert not aim(model.selection_rate() / 2).is_matched_by(model)
    assert not aim(None).is_matched_by(other)


def test_a_log_that_no_model_of_the_graph_shows_finds_none() -> None:
    apart = ModelFamily(parse("X; Y"), levels=2)
    together = NamedArray(("X", "Y"), np.array([[0.4, 0.1], [0.1, 0.4]]))
    starts = default_rng(0).normal(size=(3, apart.size))

    assert (
        find_furthest(SearchTarget(apart, QUERY, {"X": 1}, together, 1.0, 1), starts, 30)
        is None
    )

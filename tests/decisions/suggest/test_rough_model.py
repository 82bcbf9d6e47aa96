"""Random models with given rates."""

import numpy as np
import pytest

import boundit as bd
from boundit.bandit.errors import BadOption
from boundit.bounds.selection_facts import InvalidFact
from boundit.decisions.suggest.rough_model import draw_rough_model, read_shares

GRAPH = bd.parse_graph("U -> X -> I -> Y; U -> Y; I <-> Y; Y -> [S]; I -> [S]")


def test_every_variable_has_its_shares() -> None:
    rates: dict[str, float | tuple[float, ...]] = {"Y": 0.004, "X": (0.7, 0.2, 0.1)}
    shares = read_shares(GRAPH, rates, {"U": 4}, 0.3)
    model = draw_rough_model(GRAPH, shares, np.random.default_rng(1))

    for name, wanted in shares.items():
        assert model.law(name).values == pytest.approx(wanted, rel=1e-6)
    assert model.selection_rate() == pytest.approx(0.3)


def test_models_differ_by_their_seed() -> None:
    shares = read_shares(GRAPH, {}, {}, None)
    one, other = (draw_rough_model(GRAPH, shares, np.random.default_rng(i)) for i in range(2))

    assert np.abs(one.tables["Y"].values - other.tables["Y"].values).max() > 0.05


@pytest.mark.parametrize("rate", [0, 1, -0.1, 1.5, (0.5, 0), (), "much", (1, np.inf)])
def test_what_are_no_shares_is_refused(rate: object) -> None:
    with pytest.raises(BadOption, match="the rate of X"):
        read_shares(GRAPH, {"X": rate}, {"X": 2}, None)  # type: ignore[dict-item]


def test_one_level_is_none() -> None:
    with pytest.raises(BadOption, match="levels"):
        read_shares(GRAPH, {}, {"X": 1}, None)


def test_a_selection_rate_needs_a_selection_node() -> None:
    with pytest.raises(InvalidFact, match="no selection node"):
        read_shares(bd.parse_graph("X -> Y"), {}, {}, 0.5)


def test_rates_are_given_by_variable() -> None:
    with pytest.raises(BadOption, match="rates must be a mapping"):
        read_shares(GRAPH, 5, {}, None)  # type: ignore[arg-type]

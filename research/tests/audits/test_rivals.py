import numpy as np
import pytest
from numpy.random import default_rng

from boundit.core.names import Nodes, sort_names
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.rivals import SAME, ModelSurface, Rival, split_hidden_levels


def draw_binary_model(graph: str, seed: int = 0) -> SCM:
    return draw_model(parse(graph), default_rng(seed), levels=(2,))


def find_both_ends(
    model: SCM, query: str, at: dict[str, int], *tables: Nodes, near: float = 1e-3
) -> tuple[Rival, Rival]:
    surface, asked = ModelSurface(model, tables), parse_query(query)
    low, high = (
        surface.find_furthest(asked, at, towards=towards, until=until)
        for towards, until in ((0, near), (1, 1 - near))
    )
    return low, high


def compute_effect(model: SCM, query: EffectQuery, at: dict[str, int]) -> float:
    found = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    )
    return float(found.at({query.outcomes[0]: 1, **at}))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "graph",
    [
        "X -> Y -> [S]",
        "X -> Y; Y <-> [S]",
        "Z -> X -> Y; Z -> Y; Y -> [S]; X -> [S]; Z -> [S]",
        "X -> Y; X <-> Y; Y -> [S]",
    ],
)
def test_rivals_show_the_same_log_and_opposite_effects(graph: str, seed: int) -> None:
    """Selection by the reward: nothing is known of it, confounded or not."""
    model, query = draw_binary_model(graph, seed), parse_query("Y | do(X)")

    for end, rival in zip(
        (0.0, 1.0), find_both_ends(model, "Y | do(X)", {"X": 1}), strict=True
    ):
        assert abs(rival.effect - end) < 1e-3
        assert compute_effect(rival.model, query, {"X": 1}) == pytest.approx(
            rival.effect, abs=1e-9
        )
        ratio = rival.model.log().values / model.log().values
        assert np.abs(ratio - 1).max() < 10 * SAME
        assert rival.model.graph == model.graph


@pytest.mark.parametrize(
    ("graph", "query", "at"),
    [
        ("X -> Y", "Y | do(X)", {"X": 0}),
        ("Z -> X; Z -> Y; X -> Y", "Y | do(X)", {"X": 1}),
        ("X -> M -> Y; X <-> Y", "Y | do(X)", {"X": 1}),
        ("X -> Y; X -> [S]", "Y | do(X)", {"X": 0}),
        ("Z -> Y; X -> Y; Z -> [S]", "Y | do(X), Z", {"X": 0, "Z": 1}),
    ],
)
def test_what_the_log_determines_does_not_move(
    graph: str, query: str, at: dict[str, int]
) -> None:
    """Recovered effects: adjustment, the front door, selection by the arm or the context."""
    model = draw_binary_model(graph)
    truth = compute_effect(model, parse_query(query), at)

    for rival in find_both_ends(split_hidden_levels(model, default_rng(0)), query, at):
        assert rival.effect == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_rivals_of_the_bow_come_to_the_natural_bounds_and_not_beyond(seed: int) -> None:
    """Manski: ``P(y, x) <= P(y | do(x)) <= 1 - P(y', x)``, and both ends can be so."""
    model = split_hidden_levels(draw_binary_model("X -> Y; X <-> Y", seed), default_rng(seed))
    law = model.distribution()
    natural = [float(law.at({"X": 1, "Y": 1})), 1 - float(law.at({"X": 1, "Y": 0}))]

    low, high = find_both_ends(model, "Y | do(X)", {"X": 1}, near=1e-9)

    assert natural[0] - 1e-9 <= low.effect < natural[0] + 1e-3
    assert natural[1] - 1e-3 < high.effect <= natural[1] + 1e-9


def test_an_unbiased_table_keeps_rivals_from_moving_what_it_shows() -> None:
    model = draw_binary_model("Z -> Y; Y -> [S]; Z -> [S]")
    query = EffectQuery(("Y",))

    free, held = ModelSurface(model), ModelSurface(model, [frozenset("Y")])

    assert free.find_furthest(query, {}, towards=1, until=0.999).effect > 0.999
    stuck = held.find_furthest(query, {}, towards=1, until=0.999)
    assert stuck.effect == pytest.approx(float(model.distribution("Y").at({"Y": 1})), abs=1e-9)


def test_two_independent_causes_of_a_selecting_reward_pin_it_down() -> None:
    """No rule bounds the reward, and yet no rival is near.

    The population is ``P(v | S=1) r(y)``: one unknown, and independence of X and Z is an
    equation in it.
    """
    model = draw_binary_model("X -> Y; Z -> Y; Y -> [S]", 2)
    truth = compute_effect(model, parse_query("Y | do(X)"), {"X": 1})

    for rival in find_both_ends(model, "Y | do(X)", {"X": 1}):
        assert rival.effect == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_wider_hidden_causes_change_nothing_that_can_be_seen_or_done(seed: int) -> None:
    rng = default_rng(seed)
    graph = draw_graph(4, rng, bidirected=0.4, selection=True)
    model = draw_model(graph, rng)
    x = sort_names(graph.observed)[:2]

    wide = split_hidden_levels(model, rng)

    assert wide.log().measure_gap(model.log()) < 1e-12
    assert wide.distribution().measure_gap(model.distribution()) < 1e-12
    assert wide.intervene(x).measure_gap(model.intervene(x)) < 1e-12
    assert all(wide.n_levels[h] == 2 * model.n_levels[h] for h in model.hidden)

"""Every vector is a model of the graph, answers as ``Model`` does, and its slopes are right."""

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.counts.named_array import Floats
from boundit.graph.text import parse
from boundit_research.audits.sharpness_family import ModelFamily, TableProduct

GRAPHS = (
    "X -> Y; X <-> Y",
    "Z -> X -> Y; Z <-> X; X <-> Y; Y -> [S]",
    "W -> X -> M -> Y; X <-> M; M <-> Y; X <-> Y; W <-> [S]; M -> [S]",
)


def draw_logits(family: ModelFamily, n: int = 3) -> Floats:
    return default_rng(0).normal(size=(n, family.size))


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        ("X -> Y", []),
        ("X <-> M; M <-> Y", [("M", "X"), ("M", "Y")]),
        ("X <-> M; M <-> Y; X <-> Y", [("M", "X", "Y")]),
        ("X <-> M; M <-> Y; X <-> Y; Y <-> Z", [("M", "X", "Y"), ("Y", "Z")]),
    ],
)
def test_a_clique_of_bidirected_edges_is_one_hidden_cause(
    text: str, causes: list[tuple[str, ...]]
) -> None:
    assert list(ModelFamily(parse(text), levels=3).hidden.values()) == causes


@pytest.mark.parametrize("text", GRAPHS)
def test_any_logits_are_a_model_of_the_graph_and_answer_as_it_does(text: str) -> None:
    family = ModelFamily(parse(text), levels=3)
    tables = family.make_tables(draw_logits(family))
    graph = family.graph
    chosen = family.make_log_law().evaluate(tables)[0]
    held = {"X": 1, "Y": 0} | ({"W": 1} if "W" in graph.nodes else {})
    paid = family.make_effect_law(["X"], held).evaluate(tables)[0]

    for table, cells, chance in zip(tables, chosen, paid[:, 0], strict=True):
        model = family.make_model(table)
        log = model.log().align([node for node in family.axes if node in graph.observed])
        assert cells.reshape(log.shape) == pytest.approx(model.selection_rate() * log)
        asked = [name for name in held if name != "X"]
        assert chance == pytest.approx(float(model.intervene("X", asked).at(held)))


@pytest.mark.parametrize("text", GRAPHS)
def test_slopes_are_those_of_small_steps(text: str) -> None:
    family = ModelFamily(parse(text), levels=2)
    logits = draw_logits(family, 1)[0]

    def value(total: TableProduct, at: Floats) -> Floats:
        values, _ = total.evaluate(family.make_tables(at[None]))
        return np.asarray(values[0])

    for total in (family.make_log_law(), family.make_effect_law(["X"], {"X": 0, "Y": 1})):
        tables = family.make_tables(logits[None])
        slope = family.convert_slopes(tables[:, None], total.evaluate(tables)[1])[0]
        steps = 1e-5 * np.eye(family.size)
        small = [value(total, logits + s) - value(total, logits - s) for s in steps]
        assert slope == pytest.approx(np.array(small).T / 2e-5, abs=1e-8)


def test_more_hidden_levels_can_tell_the_same_story() -> None:
    graph = parse(GRAPHS[2])
    small, large = ModelFamily(graph, levels=2), ModelFamily(graph, levels=6)
    logits = draw_logits(small, 1)[0]

    one = small.make_model(small.make_tables(logits))
    other = large.make_model(large.make_tables(logits[large.find_sources(small)]))

    assert one.log().measure_gap(other.log()) < 1e-12
    assert one.selection_rate() == pytest.approx(other.selection_rate())
    effects = [m.effect(outcomes="Y", treatments="X", context="W") for m in (one, other)]
    assert effects[0].measure_gap(effects[1]) < 1e-12


def test_logits_are_kept_within_a_span_without_changing_chances() -> None:
    family = ModelFamily(parse("X -> Y; X <-> Y"), levels=3)
    logits = 5 * draw_logits(family)

    kept = family.clip_logits(logits, 1e3)

    assert kept.max() == 0
    assert family.make_tables(kept) == pytest.approx(family.make_tables(logits))
    assert family.clip_logits(logits, 2.0).min() == -2

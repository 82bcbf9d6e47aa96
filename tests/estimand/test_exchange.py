"""Lemma 1: the sound reading holds on exact models, the printed one licenses a falsehood."""

from collections.abc import Iterator
from random import Random
from typing import TypedDict

import numpy as np
import pytest

from boundit.core.errors import OverlappingRoles
from boundit.core.names import Nodes
from boundit.counts.named_array import NamedArray
from boundit.estimand.substitutes import exchanges
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM
from tests.nodes import make_nodes


class Roles(TypedDict):
    outcomes: Nodes
    exchanged: Nodes
    treatments: Nodes
    given: Nodes


def random_roles(n: int, seed: int) -> Iterator[tuple[CausalGraph, Roles]]:
    drawn, rng = np.random.default_rng(seed), Random(seed)
    for _ in range(n):
        dense, confounded = rng.choice([0.2, 0.4]), rng.choice([0.0, 0.1, 0.25])
        graph = draw_graph(
            rng.randint(3, 5), drawn, directed=dense, bidirected=confounded, selection=True
        )
        names = sorted(graph.observed)
        rng.shuffle(names)
        parts: list[set[str]] = [{names[0]}, {names[1]}, set(), set(), set()]
        for name in names[2:]:
            rng.choice(parts[1:]).add(name)
        y, z, x, w, _ = map(frozenset, parts)
        yield graph, Roles(outcomes=y, exchanged=z, treatments=x, given=w)


def acting(model: SCM, treatments: Nodes, given: Nodes, outcomes: Nodes) -> NamedArray:
    """``P(y | do(treatments), given)``."""
    return model.effect(outcomes=outcomes, treatments=treatments, context=given)


def four_laws(model: SCM, roles: Roles) -> list[NamedArray]:
    """``Z`` set or seen, among all or among the logged."""
    y, x = roles["outcomes"], roles["treatments"]
    z, w, s = roles["exchanged"], roles["given"], make_nodes(str(model.graph.selection))
    return [
        acting(model, x | z, w, y),
        acting(model, x | z, w | s, y).at({"S": 1}),
        acting(model, x, w | z, y),
        acting(model, x, w | z | s, y).at({"S": 1}),
    ]


def test_a_yes_makes_acting_and_seeing_equal_with_and_without_selection() -> None:
    """Lemma 1, eq. 9, in the sound reading: all four laws are one."""
    yes, rng = 0, np.random.default_rng(1)
    for graph, roles in random_roles(1200, seed=1):
        if exchanges(graph, **roles):
            set_all, *others = four_laws(draw_model(graph, rng, levels=(2,)), roles)

            assert max(law.measure_gap(set_all) for law in others) < 1e-9, (str(graph), roles)
            yes += 1
    assert yes > 200


def test_a_no_shows_in_some_model() -> None:
    """Nothing weaker will do: what is refused differs between acting and the selected log."""
    no, rng = 0, np.random.default_rng(2)
    for graph, roles in random_roles(400, seed=2):
        if not exchanges(graph, **roles):
            set_all, *others = four_laws(draw_model(graph, rng, levels=(2,)), roles)

            assert max(law.measure_gap(set_all) for law in others) > 1e-9, (str(graph), roles)
            no += 1
    assert no > 100


def test_one_separation_is_rule_2_and_rule_1_together() -> None:
    """Rule 2 trades the action, Rule 1 drops S = 1; contraction and weak union join them."""
    for graph, roles in random_roles(3000, seed=3):
        y, z, x, w = roles["outcomes"], roles["exchanged"], roles["treatments"], roles["given"]
        cut = graph.without_edges_into(x)
        rule_2 = open_walk(cut.without_edges_out_of(z), y, z, given=x | w) is None
        rule_1 = open_walk(cut, y, "S", given=x | w | z) is None

        assert exchanges(graph, **roles).holds == (rule_2 and rule_1)


def test_the_printed_condition_licenses_something_false() -> None:
    """Lemma 1 as printed cuts edges into Z(w): on Z <-> Y it says yes, and eq. 9 fails."""
    graph = parse("Z <-> Y; A -> [S]")
    model = SCM(
        graph,
        {
            "C": ([], 0.5),
            "Z": (["C"], [0.1, 0.9]),
            "Y": (["C"], [0.1, 0.9]),
            "A": ([], 0.5),
            "S": (["A"], [0.2, 0.7]),
        },
    )
    roles = Roles(
        outcomes=make_nodes("Y"),
        exchanged=make_nodes("Z"),
        treatments=make_nodes(),
        given=make_nodes(),
    )
    set_all, set_logged, _, seen_logged = four_laws(model, roles)
    case = {"Y": 1, "Z": 1}

    assert exchanges(graph, **roles, form="paper")
    assert not exchanges(graph, **roles)
    assert float(set_all.at(case)) == pytest.approx(0.5)
    assert float(set_logged.at(case)) == pytest.approx(0.5)
    assert float(seen_logged.at(case)) == pytest.approx(0.82)


def test_the_printed_condition_also_misses_in_random_models() -> None:
    misses, rng = 0, np.random.default_rng(4)
    for graph, roles in random_roles(300, seed=4):
        if exchanges(graph, **roles, form="paper"):
            _, set_logged, _, seen_logged = four_laws(
                draw_model(graph, rng, levels=(2,)), roles
            )
            misses += seen_logged.measure_gap(set_logged) > 1e-9
    assert misses > 0


def test_without_selection_it_is_rule_2() -> None:
    graph = parse("C -> Z -> Y; C -> Y")

    assert exchanges(graph, outcomes="Y", exchanged="Z", given="C")
    assert exchanges(graph, outcomes="Y", exchanged="Z").witness == ("Z", "<-", "C", "->", "Y")


def test_a_no_says_whether_selection_is_to_blame() -> None:
    graph = parse("Z -> Y; A -> Y; A -> [S]")

    assert str(exchanges(graph, outcomes="Y", exchanged="Z")) == (
        "no, by Lemma 1: selection is dependent on the outcome without acting on it [S <- A -> Y]"
    )
    assert exchanges(graph, outcomes="Y", exchanged="Z", given="A")


def test_a_variable_plays_one_role() -> None:
    with pytest.raises(OverlappingRoles, match="'Z' is exchanged and given"):
        exchanges(parse("Z -> Y"), outcomes="Y", exchanged="Z", given="Z")

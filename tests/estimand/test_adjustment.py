"""Adjustment criteria and sets, against labels, enumeration, each other and exact models."""

import json
from collections.abc import Iterator
from itertools import chain, combinations, islice, pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest

import boundit as bd
from boundit.core.errors import BounditError, OverlappingRoles, QueryError, UnknownNode
from boundit.core.names import Nodes
from boundit.counts.formula import evaluate
from boundit.estimand.adjustment import (
    Adjustment,
    adjusts,
    adjusts_in_context,
    find_adjustment,
    write_adjustment,
)
from boundit.estimand.expression import P, Product, Sum
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.paths import find_proper_causal_effects, make_back_door_graph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.nodes import make_nodes

LABELS = Path(__file__).parents[1] / "verdicts"
FIGURE_2 = parse("U1 -> X1 -> I1 -> Y; U1 -> Y; U2 -> X2 -> Y; I1 <-> Y; I1 -> [S]")


class Question(NamedTuple):
    graph: CausalGraph
    covariates: Nodes
    treatments: Nodes
    outcomes: Nodes
    external: Nodes

    def sets(self) -> dict[str, Nodes]:
        return {name: part for name, part in self._asdict().items() if name != "graph"}


def random_questions(n: int, seed: int, *, selection: bool = True) -> Iterator[Question]:
    rng = Random(seed)
    for _ in range(n):
        names = [f"V{i}" for i in range(rng.randint(3, 5))]
        order = [*names, "S"] if selection else names
        pairs = list(combinations(order, 2))
        dense, confounded = rng.choice([0.3, 0.5]), rng.choice([0.0, 0.15, 0.3])
        graph = CausalGraph.of(
            order,
            directed=[p for p in pairs if rng.random() < dense],
            bidirected=[p for p in pairs if rng.random() < confounded],
            selection="S" if selection else None,
        )
        rng.shuffle(names)
        n_treatments = rng.choice([1, 1, 2]) if len(names) > 3 else 1
        x, y, rest = names[:n_treatments], names[n_treatments], names[n_treatments + 1 :]
        z = [v for v in rest if rng.random() < 0.6]
        zt = rng.choice([[], z, [v for v in z if rng.random() < 0.5]])
        yield Question(graph, frozenset(z), frozenset(x), make_nodes(y), frozenset(zt))


def gact3(q: Question) -> bool:
    """The three conditions for a pair, in one form for every pair."""
    x, y, s = (
        q.treatments,
        q.outcomes,
        make_nodes(*([q.graph.selection] if q.graph.selection else [])),
    )
    backdoor = make_back_door_graph(q.graph, treatments=x, outcomes=y)
    return (
        not q.covariates & find_proper_causal_effects(q.graph, treatments=x, outcomes=y)
        and open_walk(backdoor, x, y, given=q.covariates | s) is None
        and open_walk(backdoor, y, s, given=q.external) is None
    )


@pytest.mark.parametrize("name", ["gact_no_external", "gact_pairs"])
def test_every_label_is_met(name: str) -> None:
    """Verdicts that independent programs agree on; query variables may have no edge."""
    for line in (LABELS / f"{name}.jsonl").read_text().splitlines():
        label = json.loads(line)
        y, x, pair = label["query"]["y"], label["query"]["do"], label["adjustment"]
        edges = {kind: label[kind] for kind in ("directed", "bidirected", "selection")}
        graph = CausalGraph.of([*y, *x, *pair["z"]], **edges)

        verdict = adjusts(
            graph, covariates=pair["z"], treatments=x, outcomes=y, external=pair["zt"]
        )

        assert bool(verdict) == label["answer"], (label["name"], str(verdict))


def test_the_three_types_are_one() -> None:
    """GACT1 and GACT2, in their own conditions, are GACT3 with no and with all of Z in Z^T."""
    seen = set()
    for q in random_questions(4000, seed=1):
        verdict = adjusts(q.graph, **q.sets())

        assert bool(verdict) == gact3(q), (str(q.graph), str(verdict))
        seen.add(verdict.clause)
    conditions = {f"Theorem 1 (GACT1) ({c})" for c in "abcd"}
    conditions |= {f"GACT{k} ({c})" for k in "23" for c in "abc"}
    assert seen == conditions | {"Theorem 1 (GACT1)", "GACT2", "GACT3"}


def test_two_conditions_of_theorem_1_are_one_separation() -> None:
    """Theorem 1: (c) and (d) together are (Y _||_ S) in G_pbd, whatever (a) and (b) say."""
    for q in random_questions(6000, seed=2):
        g, x, y = q.graph, q.treatments, q.outcomes
        steering = x & g.selecting()
        c = open_walk(g.without_edges_into(x), y, "S", given=x) is None
        d = open_walk(g.without_edges_out_of(x), steering, y) is None
        backdoor = make_back_door_graph(g, treatments=x, outcomes=y)

        assert (c and d) == (open_walk(backdoor, y, "S") is None), str(g)


@pytest.mark.parametrize("selection", [True, False])
def test_the_formula_is_the_effect_exactly_when_the_verdict_is_yes(selection: bool) -> None:
    """Theorem 1 and Definition 2, sound and complete: a no shows in a random model."""
    rng = np.random.default_rng(3)
    yes = 0
    for q in random_questions(500, seed=3, selection=selection):
        model = draw_model(q.graph, rng, levels=(2,))
        truth = model.effect(outcomes=q.outcomes, treatments=q.treatments)

        formula = write_adjustment(q.graph, **q.sets())
        gap = evaluate(
            formula, model.log(), external=[model.distribution(q.external)]
        ).measure_gap(truth)

        verdict = adjusts(q.graph, **q.sets())
        assert (gap < 1e-9) == bool(verdict), (str(q.graph), q.sets(), gap)
        yes += bool(verdict)
    assert yes > 50


def test_on_figure_2_the_mediator_hides_behind_its_confounder() -> None:
    """Figure 2: I1 <-> Y stays open whatever is adjusted for."""
    verdict = adjusts(FIGURE_2, covariates="U1", treatments=["I1", "X2"], outcomes="Y")

    assert (verdict.holds, verdict.clause) == (False, "Theorem 1 (GACT1) (b)")
    assert verdict.witness == ("I1", "<->", "Y")


def test_without_selection_definition_2_is_asked() -> None:
    """Definition 2: (i) names the covariates it rejects, (ii) the path that stays open."""
    graph = parse("Z -> X -> M -> Y; Z -> Y; M -> D")

    assert str(adjusts(graph, covariates=["Z", "D"], treatments="X", outcomes="Y")) == (
        "no, by Definition 2 (i): D is affected by a treatment on a causal path [D]"
    )
    assert str(adjusts(graph, covariates=(), treatments="X", outcomes="Y")) == (
        "no, by Definition 2 (ii): a non-causal path stays open [X <- Z -> Y]"
    )
    assert str(adjusts(graph, covariates="Z", treatments="X", outcomes="Y")) == (
        "yes, by Definition 2: every non-causal path is blocked"
    )


def test_a_confounded_treatment_that_steers_selection_fails_condition_d() -> None:
    """Theorem 1 (d): the log has another distribution of Z, though Z blocks every back door."""
    graph = parse("Z -> X -> Y; Z -> Y; X -> [S]")
    verdict = adjusts(graph, covariates="Z", treatments="X", outcomes="Y")

    assert verdict.clause == "Theorem 1 (GACT1) (d)"
    assert verdict.witness == ("X", "<-", "Z", "->", "Y")
    assert adjusts(graph, covariates="Z", treatments="X", outcomes="Y", external="Z")


def test_condition_d_cuts_all_treatments_at_once() -> None:
    """Theorem 1 (d): with the edges out of X2 kept, X1 would look confounded."""
    graph = parse("X1 <- X2 -> Y; X1 -> [S]")

    assert adjusts(graph, covariates=(), treatments=["X1", "X2"], outcomes="Y")
    assert not adjusts(graph, covariates=(), treatments="X1", outcomes="Y")


def test_the_formula_weights_each_part_by_what_is_known_of_it() -> None:
    graph = parse("A -> X -> Y; B -> Y; B -> [S]")
    sets = {
        "covariates": make_nodes("A", "B"),
        "treatments": make_nodes("X"),
        "outcomes": make_nodes("Y"),
    }
    inner = P(make_nodes("Y"), make_nodes("A", "B", "X"))

    assert write_adjustment(graph, **sets, external="B") == Sum(
        make_nodes("A", "B"),
        Product((inner, P(make_nodes("A"), make_nodes("B")), P(make_nodes("B"), logged=False))),
    )
    assert write_adjustment(graph, **sets) == Sum(
        make_nodes("A", "B"), Product((inner, P(make_nodes("A", "B"))))
    )
    assert write_adjustment(graph, covariates=(), treatments="X", outcomes="Y") == P(
        make_nodes("Y"), make_nodes("X")
    )


def test_external_variables_are_covariates() -> None:
    graph = parse("A -> X -> Y; B -> Y; B -> [S]")

    with pytest.raises(QueryError, match="'B' is external but not among the covariates; "):
        adjusts(graph, covariates="A", treatments="X", outcomes="Y", external=["A", "B"])


@pytest.mark.parametrize(
    ("roles", "error", "message"),
    [
        ({"covariates": "Q"}, UnknownNode, "no node 'Q'"),
        ({"covariates": "S"}, OverlappingRoles, "'S' is the selection node and a covariate"),
        ({"outcomes": "X"}, OverlappingRoles, "'X' is a treatment and an outcome"),
        ({"covariates": ["A", "X"]}, OverlappingRoles, "'X' is a covariate and a treatment"),
        ({"external": "Q"}, UnknownNode, "no node 'Q'"),
    ],
)
def test_senseless_questions_are_refused(
    roles: dict[str, str], error: type[Exception], message: str
) -> None:
    graph = parse("A -> X -> Y; B -> Y; B -> [S]")
    question = {"covariates": "A", "treatments": "X", "outcomes": "Y"} | roles

    with pytest.raises(error, match=message):
        adjusts(graph, **question)
    with pytest.raises(error, match=message):
        write_adjustment(graph, **question)


def subsets(names: Nodes) -> Iterator[Nodes]:
    sizes = (combinations(sorted(names), k) for k in range(len(names) + 1))
    return map(frozenset, chain.from_iterable(sizes))


def admissible(
    graph: CausalGraph, treatments: Nodes, outcomes: Nodes, external: Nodes, within: Nodes
) -> set[Adjustment]:
    roles = {"treatments": treatments, "outcomes": outcomes}
    return {
        Adjustment(z, zt)
        for z in subsets(within - treatments - outcomes)
        for zt in subsets(z & external if graph.selection else make_nodes())
        if adjusts(graph, covariates=z, external=zt, **roles)
    }


def random_searches(n: int, seed: int) -> Iterator[tuple[CausalGraph, dict[str, Nodes]]]:
    rng = Random(seed)
    for _ in range(n):
        names = [f"V{i}" for i in range(rng.randint(3, 6))]
        selection = rng.random() < 0.8
        order = [*names, "S"] if selection else names
        pairs = list(combinations(order, 2))
        graph = CausalGraph.of(
            order,
            directed=[p for p in pairs if rng.random() < 0.35],
            bidirected=[p for p in pairs if rng.random() < 0.12],
            selection="S" if selection else None,
        )
        rng.shuffle(names)
        cut = rng.choice([1, 1, 2]) if len(names) > 3 else 1
        sets = {"treatments": frozenset(names[:cut]), "outcomes": make_nodes(names[cut])}
        sets["external"] = frozenset(v for v in names if rng.random() < 0.6)
        sets["within"] = frozenset(v for v in names if rng.random() < 0.9)
        yield graph, sets


def test_of_the_pair_found_nothing_can_be_spared() -> None:
    for graph, sets in random_searches(900, seed=2):
        found, every = find_adjustment(graph, **sets), admissible(graph, **sets)

        assert (found is not None) == bool(every), str(graph)
        if found is not None:
            assert found in every
            assert not [p for p in every if p.covariates < found.covariates]
            assert not [
                p
                for p in every
                if p.covariates == found.covariates and p.external < found.external
            ]


def test_a_pair_is_found_where_selection_needs_a_measured_variable() -> None:
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]; U -> Y")
    roles = {"treatments": "X", "outcomes": "Y"}

    assert find_adjustment(graph, **roles) is None
    assert find_adjustment(graph, **roles, external="Z") == (make_nodes("Z"), make_nodes("Z"))
    assert find_adjustment(graph, **roles, external="Z", within="U") is None


def test_a_covariate_that_another_choice_of_external_variables_spares_is_dropped() -> None:
    """A, nearest to Y, settles selection; but B is needed anyway and settles it as well."""
    graph = parse("B -> A -> Y; B -> [S]; B -> X -> Y; B -> K -> L -> X; Q -> K; Q -> Y")

    found = find_adjustment(
        graph, treatments="X", outcomes="Y", external=["A", "B"], within=["A", "B", "L"]
    )

    assert found == (make_nodes("B", "L"), make_nodes("B"))


def test_long_graphs_are_no_trouble() -> None:
    """A few searches, each linear; no recursion."""
    names = [f"V{i}" for i in range(3_000)]
    graph = CausalGraph.of(
        directed=[*pairwise(names), ("V0", "X"), ("X", "Y"), ("V2999", "Y"), ("V7", "S")],
        selection="S",
    )
    roles = {"treatments": "X", "outcomes": "Y", "external": names}

    found = find_adjustment(graph, **roles)

    assert found is not None
    assert adjusts(graph, **found._asdict(), treatments="X", outcomes="Y")
    listed = bd.adjustment_sets(graph, "Y | do(X)", external=names, minimal=False)
    assert len(set(islice(listed, 5))) == 5


def test_minimal_sets_of_large_graphs_take_no_look_at_all_others() -> None:
    """Twenty chains have 2^20 minimal sets; beside them stand exponentially many others."""
    chains = "; ".join(f"X <- A{i} <- B{i} -> Y; C{i} -> B{i}" for i in range(20))
    listed = list(islice(bd.adjustment_sets(f"X -> Y; {chains}", "Y | do(X)"), 50))

    assert len({one.covariates for one in listed}) == 50
    assert {len(one.covariates) for one in listed} == {20}


def test_senseless_searches_are_refused() -> None:
    graph = parse("Z -> X -> Y; Z -> [S]")

    with pytest.raises(UnknownNode, match="no node 'Q'"):
        find_adjustment(graph, treatments="X", outcomes="Y", external="Q")
    with pytest.raises(OverlappingRoles, match="'S' is the selection node and allowed"):
        find_adjustment(graph, treatments="X", outcomes="Y", within=["Z", "S"])


def ask(sets: dict[str, Nodes], context: Nodes = frozenset()) -> EffectQuery:
    outcomes, treatments = (tuple(sorted(sets[name])) for name in ("outcomes", "treatments"))
    return EffectQuery(outcomes, treatments, tuple(sorted(context)))


def keep_minimal(every: set[Adjustment]) -> set[Adjustment]:
    least = {one for one in every if not any(o.covariates < one.covariates for o in every)}
    return {
        one
        for one in least
        if not any(o[0] == one[0] and o.external < one.external for o in least)
    }


@pytest.mark.parametrize("seed", [1, 5, 6])
def test_minimal_sets_are_those_without_anything_to_spare(seed: int) -> None:
    for graph, sets in random_searches(200, seed=seed):
        every, query = admissible(graph, **sets), ask(sets)
        limits: dict[str, Any] = {"external": sets["external"], "within": sets["within"]}

        listed = list(bd.adjustment_sets(graph, query, **limits))
        assert len(listed) == len(set(listed))
        assert set(listed) == keep_minimal(every), str(graph)
        wide = list(bd.adjustment_sets(graph, query, **limits, minimal=False))
        assert len(wide) == len(set(wide))
        assert set(wide) == every, str(graph)
        for covariates in subsets(sets["within"] - sets["treatments"] - sets["outcomes"]):
            held = bd.is_adjustment_set(graph, query, covariates, external=sets["external"])
            assert bool(held) == (covariates in {pair.covariates for pair in every})


def test_minimal_sets_are_those_of_an_enumeration_by_another_library() -> None:
    """Total effects without selection: the sets that DAGitty lists (Shpitser et al. 2010)."""
    draw, compared = Random(3), 0
    for _ in range(400):
        names = [f"V{i}" for i in range(draw.randint(4, 7))]
        pairs, dense = list(combinations(names, 2)), draw.choice([0.25, 0.4, 0.55])
        edges = [pair for pair in pairs if draw.random() < dense]
        arcs = [pair for pair in pairs if draw.random() < 0.1]
        x, y = draw.sample(names, 2)
        full = nx.DiGraph(edges)
        full.add_nodes_from(names)
        full.add_edges_from(((a, b), one) for a, b in arcs for one in (a, b))  # hidden causes
        after = nx.descendants(full, x)
        causal = {v for v in after if v == y or y in nx.descendants(full, v)}
        forbidden = {x}.union(*({v} | nx.descendants(full, v) for v in causal))
        full.remove_edges_from([(x, v) for v in causal])
        every = [
            found
            for found in map(frozenset, subsets(frozenset(names) - forbidden - {y}))
            if causal and nx.is_d_separator(full, {x}, {y}, set(found))
        ]
        least = {one for one in every if not any(other < one for other in every)}
        graph = CausalGraph.of(names, directed=edges, bidirected=arcs)
        if causal:
            listed = {one.covariates for one in bd.adjustment_sets(graph, f"{y} | do({x})")}
            assert listed == least, str(graph)
            compared += len(least)

    assert compared > 50


def test_what_is_identified_names_its_adjustment_sets_and_biasing_paths() -> None:
    """A biasing path is there exactly where a non-causal walk is open."""
    for graph, _, x, y, _ in random_questions(150, seed=33):
        query = ask({"outcomes": y, "treatments": x})
        found = bd.identify(graph, query)
        listed = dict.fromkeys(pair.covariates for pair in bd.adjustment_sets(graph, query))
        given = graph.nodes - graph.observed
        back_door = make_back_door_graph(graph, treatments=x, outcomes=y)

        assert found.adjustment_sets == tuple(listed)
        assert bool(found.biasing_paths) == (
            open_walk(back_door, x, y, given=given) is not None
        )


@pytest.mark.parametrize("seed", [7, 8])
def test_sets_in_a_context_are_those_of_the_criterion(seed: int) -> None:
    draw = Random(seed)
    for graph, sets in random_searches(200, seed=seed):
        free = sorted(graph.observed - sets["treatments"] - sets["outcomes"])
        if not free:
            continue
        context = frozenset(draw.sample(free, 1))
        table, query = sets["external"], ask(sets, context)
        every = {
            covariates
            for covariates in subsets(sets["within"] - {*context} - sets["treatments"])
            if not covariates & sets["outcomes"] and holds(graph, query, covariates, table)
        }

        limits: dict[str, Any] = {"external": table, "within": sets["within"]}
        wide = [
            one.covariates for one in bd.adjustment_sets(graph, query, **limits, minimal=False)
        ]
        least = {one.covariates for one in bd.adjustment_sets(graph, query, **limits)}
        assert len(wide) == len(set(wide))
        assert set(wide) == every, str(graph)
        assert least == {one for one in every if not any(other < one for other in every)}


def holds(graph: CausalGraph, query: EffectQuery, covariates: Nodes, table: Nodes) -> bool:
    roles = {"treatments": query.treatments, "outcomes": query.outcomes}
    verdict = adjusts_in_context(
        graph, covariates=covariates, **roles, context=query.context, table=table
    )
    assert verdict == bd.is_adjustment_set(graph, query, covariates, external=table)
    return bool(verdict)


def test_an_open_path_is_named() -> None:
    found = bd.is_adjustment_set("Z -> X -> Y; Z -> Y", "Y | do(X)", ())

    assert not found
    assert found.witness == ("X", "<-", "Z", "->", "Y")
    with pytest.raises(BounditError, match="no node 'Q'"):
        bd.adjustment_sets("X -> Y", "Y | do(Q)")


def test_an_identified_effect_is_evaluated_from_a_log() -> None:
    rows = {"Z": [0, 0, 0, 1], "X": [0, 1, 1, 0], "Y": [0, 0, 1, 1]}
    direct = bd.identify("X -> Y; Z -> Y", "Y | do(X)").evaluate(rows)
    logged = bd.identify("Z -> X -> Y; Z -> [S]", "Y | do(X)").evaluate(rows)

    for found in (direct, logged):
        assert found.axes == ("X", "Y")
        np.testing.assert_allclose(found.values, [[0.5, 0.5], [0.5, 0.5]])
    selected = bd.identify("Z -> X -> Y; Z -> Y; Z -> [S]", "Y | do(X)", external=["Z"])
    rows = {"Z": [0, 0, 1, 1, 1], "X": [0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 1]}
    values = selected.evaluate(rows, external=[{"Z": [0, 1, 1, 1]}]).align(("X", "Y"))
    np.testing.assert_allclose(values, [[0.25, 0.75], [0.375, 0.625]])
    with pytest.raises(BounditError, match="no formula to evaluate: not identified"):
        bd.identify("X -> Y; X <-> Y", "Y | do(X)").evaluate(rows)

"""Chains: every distribution of a link against an oracle, and every chain against the truth."""

from itertools import product

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from scipy.optimize import linprog

import boundit as bd
from boundit.bounds.chain import (
    Chain,
    Known,
    Link,
    Meet,
    Natural,
    Reweighted,
    Tilted,
    Unknown,
    drop_idle,
    flatten,
    least_mean,
    least_tilted_mean,
)
from boundit.bounds.confounding_limits import ConfoundingLimits
from boundit.bounds.search import find_chains
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.counts.named_array import Floats
from boundit.estimand.expression import P
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from tests.bounds.core import bound, find_misses, make_run, state_rate
from tests.bounds.exact import Asked, questions

Y_DO_X = bd.parse_query("Y | do(X)")


def solve(cost: Floats, low: Floats, high: Floats, weights: Floats | None = None) -> float:
    """The least ``cost @ q`` with ``low <= q <= high`` and ``weights @ q`` one, by scipy."""
    row = np.ones((1, len(cost))) if weights is None else weights[None]
    found = linprog(cost, A_eq=row, b_eq=[1.0], bounds=list(zip(low, high, strict=True)))
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize("seed", range(10))
def test_known_takes_the_worst_distribution_within_intervals(seed: int) -> None:
    rng = default_rng(seed)
    centre = rng.dirichlet(np.ones(5))
    low, high = centre * rng.uniform(0, 1, 5), np.minimum(centre + rng.uniform(0, 0.3, 5), 1)
    values = rng.uniform(size=5)
    assert least_mean(low, high, values) == pytest.approx(solve(values, low, high), abs=1e-9)


@pytest.mark.parametrize("limit", [1.0, 1.5, 4.0])
@pytest.mark.parametrize("seed", range(5))
def test_tilted_takes_the_worst_density_ratio_within_the_limit(seed: int, limit: float) -> None:
    rng = default_rng(seed)
    weights, values, e = rng.dirichlet(np.ones(4)), rng.uniform(size=4), rng.uniform()
    ratio = np.full(4, limit)
    others = solve(weights * values, 1 / ratio, ratio, weights)
    expected = e * weights @ values + (1 - e) * others
    found = least_tilted_mean(np.array(e), weights, weights, values, limit)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_success_of_a_numeric_outcome_is_tilted_no_less(seed: int) -> None:
    """Only the mean of a numeric outcome is counted: its success has a wider valid interval."""
    rng = default_rng(seed)
    weights, values, e = rng.dirichlet(np.ones(4)), rng.uniform(size=4), np.array(rng.uniform())
    mean = weights @ values
    success = np.array([1 - mean, mean])
    for sign, binary in ((1, np.array([0.0, 1.0])), (-1, np.array([0.0, -1.0]))):
        numeric = least_tilted_mean(e, weights, weights, sign * values, 2.0)
        assert least_tilted_mean(e, success, success, binary, 2.0) <= numeric + 1e-12


def test_natural_bounds_are_those_of_manski() -> None:
    model = draw_model(bd.parse_graph("X -> Y; X <-> Y"), default_rng(0), levels=(3, 2))
    while model.n_levels["Y"] != 2:
        model = draw_model(model.graph, default_rng(5), levels=(2,))
    (chain,) = find_chains(model.graph, Y_DO_X).rules
    law = model.log().align(("X", "Y"))
    low, high = chain.bound(make_run(model, Y_DO_X))
    assert chain.name == "natural bounds on X"
    assert low == pytest.approx(law[:, 1])
    assert high == pytest.approx(1 - law[:, 0])


def test_natural_bounds_on_a_link_of_many_values_are_the_worst_of_each() -> None:
    """E[f(V) | do(x)]: who got x shows V, the others may have the worst value of f."""
    graph = bd.parse_graph("X -> V -> Y; X <-> V; V <-> Y; X <-> Y")
    model = draw_model(graph, default_rng(2), levels=(2,), floor=0.1)
    run = make_run(model, Y_DO_X)
    natural = Natural(("X",), Known(P(frozenset("XV"), logged=False)))
    values = np.array([[0.2, 0.9], [0.7, 0.4]])  # axes: X, V
    low, high = natural.bound_mean(run, ("V",), ("X",), values, values)
    joint = model.distribution(["X", "V"]).align(("X", "V"))
    for x in (0, 1):
        shown = joint[x] @ values[x]
        assert low[x] == pytest.approx(shown + joint[1 - x].sum() * values[x].min())
        assert high[x] == pytest.approx(shown + joint[1 - x].sum() * values[x].max())


def test_unknown_takes_the_extremes_and_reweighted_no_more() -> None:
    model = draw_model(bd.parse_graph("W -> Y; X -> Y; W -> [S]"), default_rng(1), levels=(2,))
    run = make_run(model, Y_DO_X)
    rules = find_chains(model.graph, Y_DO_X).rules
    worst = next(rule for rule in rules if rule.name == "worst case over W")
    cells = model.log().condition_on(["W", "X"]).at({"Y": 1}).align(("X", "W"))
    low, high = worst.bound(run)
    assert low == pytest.approx(cells.min(axis=1))
    assert high == pytest.approx(cells.max(axis=1))
    assert worst.extremes == {"W"}
    assert isinstance(worst.links[0].distribution, Unknown)
    for rule in rules:
        if isinstance(rule.links[0].distribution, Reweighted):
            assert (rule.bound(run)[0] <= low + 1e-9).all()


@pytest.mark.parametrize("seed", [0, 1, 2, pytest.param(3, marks=pytest.mark.full)])
def test_no_chain_misses_the_truth(seed: int) -> None:
    """Each chain by itself, with nothing known of selection and with its rate."""
    misses = list[str]()
    for asked in questions(35, seed):
        for facts in dict.fromkeys((NOTHING_KNOWN, state_rate(asked.model))):
            misses += find_misses(asked, facts)
    assert not misses


OPTIONAL = {
    "Q -> Y": 0.6, "A -> Y": 0.6, "C -> A": 0.4, "C -> Q": 0.4, "C -> Y": 0.4, "C <-> Q": 0.2,
    "Q <-> A": 0.2, "C <-> Y": 0.2, "Q <-> Y": 0.3, "A -> [S]": 0.3, "Q -> [S]": 0.3,
}  # fmt: skip


def draw_taken(rng: Generator) -> Asked:
    """A model in which A comes with Y, and Q nearly always as A does; few rows are not logged.

    Among rows with a given Q nearly all have one A, so that intervals are narrow and a condition
    too few is a miss.
    """
    said = ["A -> Q", "A <-> Y", "Y -> [S]", "C"]
    said += [edge for edge, often in OPTIONAL.items() if rng.random() < often]
    model = draw_model(bd.parse_graph("; ".join(said)), rng, levels=(2,), floor=0.02)
    tables = {node: (table.axes[:-1], table.values) for node, table in model.tables.items()}
    axes, values = tables["Q"]
    same = np.array([[0.95, 0.05], [0.05, 0.95]]).reshape([1 + (a == "A") for a in axes] + [2])
    tables["Q"] = axes, np.broadcast_to(same, values.shape).copy()
    axes, values = tables["S"]
    logged = rng.uniform(0.9, 1, values.shape[:-1])
    tables["S"] = axes, np.stack([1 - logged, logged], axis=-1)
    query = bd.parse_query("Y | do(A, Q), C" if rng.random() < 0.5 else "Y | do(A, Q)")
    return Asked(SCM(model.graph, tables), query)


@pytest.mark.parametrize(
    ("n", "seed"), [(40, 0), (40, 1), (40, 2), pytest.param(1_000, 3, marks=pytest.mark.full)]
)
def test_arms_taken_as_they_came_make_no_chain_miss(n: int, seed: int) -> None:
    """Two treatments: one is taken as it came, the other set, seen or taken too."""
    misses, taken = list[str](), 0
    for rng in default_rng(seed).spawn(n):
        asked = draw_taken(rng)
        facts = state_rate(asked.model)
        rules = find_chains(asked.model.graph, asked.query, facts=facts).rules
        taken += any(isinstance(rule.last, Natural) for rule in rules)
        misses += find_misses(asked, facts)
    assert taken > n // 2
    assert not misses


def test_an_effect_of_the_arm_that_came_is_not_conditioned_on() -> None:
    """Q is an effect of A: given Q, those who came with A=a are not those whom A was set for."""
    graph = bd.parse_graph("A -> Q -> Y; A -> Y; A <-> Y; Y -> [S]")
    rules = find_chains(
        graph, bd.parse_query("Y | do(A, Q)"), facts=SelectionFacts((0.5, 0.5))
    ).rules
    for rule in rules:
        if isinstance(rule.last, Natural) and isinstance(rule.last.joint, Reweighted):
            assert not (rule.last.taken == ("A",) and "Q" in rule.last.joint.given)


@pytest.mark.parametrize("seed", [10, 14])
def test_limits_on_confounding_hold(seed: int) -> None:
    """No odds of a model differ by more than 49 squared: no probability is below .02."""
    tried = 0
    for asked in questions(30, seed, selection=True):
        graph, x = asked.model.graph, {*asked.query.treatments}
        edges = [e for e in graph.bidirected if x & {*e} and graph.selection not in e]
        if not edges:
            continue
        limits = ConfoundingLimits.from_option(
            {" <-> ".join(edge): 49.0**2 for edge in edges}, graph
        )
        plan = find_chains(graph, asked.query, facts=state_rate(asked.model), limits=limits)
        lower, upper = bound(plan.rules, make_run(asked.model, asked.query))
        truth = asked.truth()
        assert ((lower <= truth + 1e-8) & (truth <= upper + 1e-8)).all()
        tried += any(isinstance(each.last, Tilted) for each in plan.rules)
        assert [note for note in plan.notes if "limit" in str(note) or "odds" in str(note)]
    assert tried > 1


def test_a_meet_takes_the_best_chain_in_every_cell() -> None:
    graph = bd.parse_graph("Z -> X -> Y; Z -> Y; X <-> Y; Z -> [S]")
    model = draw_model(graph, default_rng(4), levels=(2,), floor=0.1)
    query, finer = bd.parse_query("Y | do(X)"), bd.parse_query("Y | do(X), Z")
    run = make_run(model, query)
    members = find_chains(graph, finer).rules
    meet = Chain(query, (Link(("Z",), Unknown()), Link(("Y",), Meet(members))))
    ends = [member.bound(run) for member in members]
    low, high = meet.bound(run)
    assert low == pytest.approx(np.max([end[0] for end in ends], axis=0).min(axis=1))
    assert high == pytest.approx(np.min([end[1] for end in ends], axis=0).max(axis=1))
    for chain in meet.unfold():
        least, most = chain.bound(run)
        assert (least <= low + 1e-12).all()
        assert (most >= high - 1e-12).all()
    assert flatten(meet) is None
    assert meet.needs >= {"X", "Y", "Z"}


def test_links_that_no_later_one_reads_are_dropped() -> None:
    y = Link(("Y",), Known(P(frozenset("Y"), frozenset("XW"))))
    links = [Link((name,), Unknown()) for name in "WVU"]
    assert drop_idle((*links, y)) == (links[0], y)


def test_names_and_claims_are_those_of_the_field() -> None:
    names = dict[str, str]()
    for graph, facts in product(
        ("Z -> X -> Y; Z -> Y", "W -> X -> Y; W -> Y; W -> [S]", "X -> Y; X <-> Y; Y -> [S]"),
        (NOTHING_KNOWN, SelectionFacts((0.5, 0.5))),
    ):
        drawn = bd.parse_graph(graph)
        if facts and drawn.selection is None:
            continue
        names |= {
            rule.name: str(rule.reason.claim)
            for rule in find_chains(drawn, Y_DO_X, facts=facts).rules
        }
    assert names["identified"] == "P(Y | do(X)) is Σ_{Z} P(Y | X, Z) P(Z)"
    assert names["identified, average over Z"].startswith(
        "P(Y | do(X)) is sum over Z of P(Z) x"
    )
    assert names["worst case over W"].startswith("P(Y | do(X)) lies between min/max over W of")
    assert "selection reweighting of W" in names
    assert "natural bounds on X, selection reweighting of X, Y" in names


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        ("Z -> X -> Y; Z -> Y", "Y | do(X)"),
        ("X -> M -> Y; X <-> Y", "Y | do(X)"),
        ("W -> R -> X -> Y; W <-> X; W <-> Y", "Y | do(X)"),
    ],
)
def test_an_identified_chain_is_the_effect(graph: str, text: str) -> None:
    query = bd.parse_query(text)
    model = draw_model(bd.parse_graph(graph), default_rng(3), levels=(2, 3), floor=0.05)
    while model.n_levels["Y"] != 2:
        model = draw_model(bd.parse_graph(graph), default_rng(4), levels=(2,), floor=0.05)
    run = make_run(model, query)
    chains = [c for c in find_chains(model.graph, query).rules if c.is_identified]
    truth = model.effect(outcomes=["Y"], treatments=["X"]).align(("X", "Y"))[:, 1]
    for chain in chains:
        assert np.stack(chain.bound(run)) == pytest.approx(np.stack([truth, truth]), abs=1e-10)
    assert chains

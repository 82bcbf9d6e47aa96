"""Pooling of logged rows and rounds: what is pooled, by which rules, and the counts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest

from boundit.bounds import pooling
from boundit.bounds.evidence import Counts, Evidence
from boundit.bounds.pooling import (
    MAX_DISTRIBUTIONS,
    MAX_PLACES,
    MAX_VARIABLES,
    POLICY,
    Pooled,
    PoolingSearch,
    RowReader,
    Scheme,
    WeightSource,
    draw_policy,
    find_denied,
    plan_pooling,
    weigh_split,
)
from boundit.core.long_work import TimeBudget
from boundit.core.names import Nodes
from boundit.counts.log import Log, read_log
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import share_levels
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.results.fused_plan import FusedPlan, NoFusedPlan
from boundit.simulation.environment import Environment
from boundit.simulation.environments import flipped_environment, paper_environment
from boundit.simulation.scm import SCM
from tests.bounds.exact import Asked, questions

SAME = 1e-9
TILTED = "X -> W -> Y; W -> [S]"


def plan(
    graph: str | CausalGraph,
    query: str | EffectQuery,
    log: object,
    *,
    external: Sequence[object] = (),
    outcome_range: tuple[float, float] = (0.0, 1.0),
    seconds: float | None = None,
    cluster: str | None = None,
    hidden: Nodes = frozenset(),
) -> FusedPlan | NoFusedPlan:
    """Count all observed columns and plan."""
    drawn = parse(graph) if isinstance(graph, str) else graph
    asked = parse_query(query) if isinstance(query, str) else query
    (y,) = asked.outcomes
    logs = [each if isinstance(each, Log) else read_log(each) for each in (log, *external)]
    counted = [
        each.count(
            sorted(drawn.observed.intersection(each.columns) - {y}),
            reward=y if y in each.columns else None,
            cluster=cluster,
        )
        for each in logs
    ]
    tables = share_levels(counted[0], counted[1:], {})
    first, *others = (
        Counts(table, table.reward, *outcome_range, binary=outcome_range == (0, 1))
        for table in tables
    )
    population = tuple(others) if drawn.selection else (first,)
    workspace = Workspace(10**9, TimeBudget(seconds))
    levels = [first.table.levels[name] for name in asked.treatments + asked.context]
    n = len(asked.treatments)
    keys = [(key[:n], key[n:]) for key in product(*levels)]
    return plan_pooling(
        Evidence(drawn, asked, first, population, workspace), keys, hidden=hidden
    )


def found(*given: Any, **options: Any) -> FusedPlan:
    made = plan(*given, **options)
    assert isinstance(made, FusedPlan), made
    return made


def refusal(*given: Any, **options: Any) -> str:
    made = plan(*given, **options)
    assert isinstance(made, NoFusedPlan)
    return made.reason


def draw(n: int = 500, seed: int = 0) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n)
    w = rng.random(n) < 0.3 + 0.4 * x
    y = rng.random(n) < 0.2 + 0.5 * w
    rows = {"X": x.tolist(), "W": w.astype(int).tolist(), "Y": y.astype(int).tolist()}
    return {**rows, "user": [f"u{i // 2}" for i in range(n)]}


# Distributions, against the exact ones of random models


def list_laws(asked: Asked, reader: RowReader) -> Iterator[Pooled]:
    """Every distribution of one or two variables given up to two others, the outcome's too."""
    query = asked.query
    free = sorted(asked.model.graph.observed - set(query.treatments + query.context))
    for n_of, n_before in product((1, 2), (0, 1, 2)):
        for of in combinations(free, n_of):
            for before in combinations([name for name in free if name not in of], n_before):
                yield reader.find(frozenset(of), frozenset(before))


def spread(effect: NamedArray, law: Pooled) -> Floats:
    """An effect over (what it does not depend on, what it depends on, its variables)."""
    whole = law.asked.treatments | law.asked.context
    parts = sorted(whole - law.given), sorted(law.given), sorted(law.of)
    values = effect.align([name for part in parts for name in part])
    ends = np.cumsum([0, *map(len, parts)])
    shape = [int(np.prod(values.shape[a:b])) for a, b in pairwise(ends)]
    return values.reshape(shape)


def show(joint: NamedArray, law: Pooled) -> Floats:
    """``P(of | given)`` of some rows, over (given, of)."""
    shown = joint.condition_on(law.given).align((*sorted(law.given), *sorted(law.of)))
    return shown.reshape(int(np.prod(shown.shape[: len(law.given)])), -1)


def test_distributions_are_shared_shown_and_tilted_as_is_said() -> None:
    """Rules 1 to 3, on graphs with selection, hidden causes, one or two arms, 2 or 3 levels."""
    used = {"pools": 0, "draws": 0, "tilts": 0, "tables": 0}
    for asked in questions(150, 11):
        model, graph = asked.model, asked.model.graph
        reader = RowReader(graph, asked.query, tables=[graph.observed])
        with_policy = draw_policy(graph, asked.query.treatments)
        chosen = {graph.selection} if graph.selection else set[str]()
        for law in list_laws(asked, reader):
            effect = model.effect(
                outcomes=law.of, treatments=law.asked.treatments, context=law.asked.context
            )
            each = spread(effect, law)
            assert np.abs(each - each[0]).max() < SAME
            used["pools"] += 1
            if reader.are_draws(law):
                assert np.abs(show(model.log(law.of | law.given), law) - each[0]).max() < SAME
                assert not open_walk(with_policy, law.of, POLICY, given=law.given | chosen)
                used["draws"] += 1
            if reader.has_tilt(law):
                bent = np.log(show(model.log(law.of | law.given), law)) - np.log(each[0])
                tilt = bent - bent[:, :1]
                assert np.abs(tilt - tilt[0]).max() < SAME
                used["tilts"] += 1
            if reader.find_tables(law):
                assert (
                    np.abs(show(model.distribution(law.of | law.given), law) - each[0]).max()
                    < SAME
                )
                used["tables"] += 1
    assert min(used.values()) > 50, used


def test_identified_is_not_enough() -> None:
    """``P(W | do(X))`` is identified, and the log's share of W is not it."""
    graph = parse("Z -> X; Z -> W; X -> W; W -> Y; X -> Y")
    reader = RowReader(graph, parse_query("Y | do(X)"))
    weights = reader.find(frozenset("W"))

    assert identify(graph, parse_query("W | do(X)"))
    assert not reader.are_draws(weights)
    assert reader.are_draws(reader.find(frozenset("Y"), frozenset("W")))
    assert reader.are_draws(reader.find(frozenset("W"), frozenset("Z")))
    assert reader.explain_refusal(weights) == "what made X come about in the log depends on W"


def test_a_distribution_that_selection_tells_of_says_how() -> None:
    reader = RowReader(parse(TILTED), parse_query("Y | do(X)"))
    law = reader.find(frozenset("W"))

    assert not reader.are_draws(law)
    assert reader.has_tilt(law)
    assert reader.explain_refusal(law) == "selection depends on W by W -> S"


@pytest.mark.parametrize(
    "text",
    [
        "X -> W -> Y; W -> [S]; X <-> W",  # W is confounded with X
        "X -> W -> Y; W -> [S]; X -> V -> [S]",  # X reaches S beside W
        "X -> Y; W -> Y; W -> [S]",  # one pool
        "X -> W -> Y",  # nothing selects
    ],
)
def test_a_tilt_needs_rule_2_separation_and_several_pools(text: str) -> None:
    reader = RowReader(parse(text), parse_query("Y | do(X)"))

    assert not reader.has_tilt(reader.find(frozenset("W")))


def test_under_a_policy_that_learned_selection_may_change_the_tilt() -> None:
    """How often each X2 came is what the policy changed, and S depends on it beside W."""
    query = parse_query("Y | do(X1, X2)")
    for text, tilted in (("; X2 -> [S]", False), ("", True)):
        graph = parse(f"X1 -> W -> Y; X2 -> Y; W -> [S]{text}")
        alone, learned = (RowReader(graph, query, adaptive=a) for a in (False, True))
        law = alone.find(frozenset("W"))
        assert alone.has_tilt(law)
        assert learned.has_tilt(law) is tilted


# The search


def search(
    graph: CausalGraph | str,
    query: EffectQuery | str = "Y | do(X)",
    *,
    tables: tuple[Nodes, ...] = (),
    n_keys: int = 4,
    levels: int | Mapping[str, int] = 2,
    budget: float | None = None,
) -> PoolingSearch:
    drawn = parse(graph) if isinstance(graph, str) else graph
    asked = parse_query(query) if isinstance(query, str) else query
    sizes = dict.fromkeys(drawn.nodes, levels) if isinstance(levels, int) else levels
    reader = RowReader(drawn, asked, tables=tables)
    return PoolingSearch(reader, drawn.observed, sizes, n_keys, TimeBudget(budget))


def find(*given: Any, **options: Any) -> Scheme:
    scheme = search(*given, **options).find()
    assert scheme is not None
    return scheme


def source(scheme: Scheme) -> int:
    return scheme.rank(dict.fromkeys("CIMVWXYZ", 2))[0]


def test_nothing_is_gone_over_where_the_log_shows_the_mean_itself() -> None:
    assert find("C -> X; C -> Y; X -> Y; C -> [S]", "Y | do(X), C").factors == ()


def test_fewer_numbers_to_learn_are_better() -> None:
    """Ten contexts share what M does, and all arms the mean of Y given M."""
    graph, query = "C -> X; X -> M; M -> Y; C -> Y", "Y | do(X), C"
    levels = {"C": 10, "X": 10, "M": 2, "Y": 2}

    assert find(graph, query).factors == ()
    assert find(graph, query, levels=10).factors == ()
    best = find(graph, query, levels=levels, n_keys=100)
    assert best.variables == ("M",)
    assert best.rank(levels)[1] == 10 * 2 + 10


def test_a_covariate_that_moves_arm_and_weights_comes_into_the_scheme() -> None:
    scheme = find("Z -> X; Z -> W; X -> W; W -> Y; X -> Y")

    assert source(scheme) == WeightSource.ROWS
    assert "Z" in scheme.variables


def test_variables_that_select_together_are_one_factor_with_one_tilt() -> None:
    (factor,) = find("X -> V; X -> W; V -> Y; W -> Y; V -> [S]; W -> [S]").factors

    assert factor.variables == ("V", "W")
    assert factor.source is WeightSource.TILT


def test_an_external_table_gives_the_weights() -> None:
    tilted, known, other = (
        find(TILTED, tables=tables) for tables in ((), (frozenset("XW"),), (frozenset("W"),))
    )

    assert (source(tilted), source(known)) == (WeightSource.TILT, WeightSource.ROWS)
    assert known.factors[0].tables == (0,)
    assert known.factors[0].explain("").startswith("rows of an external table are draws")
    assert other == tilted


def test_it_finds_the_best_of_all_schemes_exactly_where_some_set_passes() -> None:
    """Without pruning by rank, over all sets of all variables, descendants of Y among them."""
    n_found = 0
    for asked in questions(80, 22):
        levels = dict(asked.model.n_levels)
        made = search(asked.model.graph, asked.query, levels=levels)
        best, ranks = made.find(), [scheme.rank(levels) for scheme in list_schemes(made)]
        assert (best is None) == (not ranks)
        if best is not None:
            assert best.rank(levels) == min(ranks)
            n_found += 1
    assert 20 < n_found < 70


def list_schemes(made: PoolingSearch) -> Iterator[Scheme]:
    query = made.reader.query
    named = set(query.outcomes + query.treatments + query.context)
    for size in range(MAX_VARIABLES + 1):
        for some in combinations(sorted(made.reader.graph.observed - named), size):
            outcome = made.reader.find(frozenset(query.outcomes), frozenset(some))
            if not made.reader.are_draws(outcome):
                continue
            for parts in partition(some):
                before, factors = frozenset[str](), []
                for part in parts:
                    factors.append(made.make_factor(part, before))
                    before |= set(part)
                yield Scheme(outcome, tuple(factors))


def partition(some: tuple[str, ...]) -> list[list[tuple[str, ...]]]:
    """All ways to go over some variables in turn, one or several at a time."""
    if not some:
        return [[]]
    return [
        [first, *rest]
        for size in range(1, len(some) + 1)
        for first in combinations(some, size)
        for rest in partition(tuple(name for name in some if name not in first))
    ]


def test_too_many_combinations_are_not_gone_over() -> None:
    assert search(TILTED, levels=64).find() is not None
    assert search(TILTED, levels=65).find() is None
    assert search(TILTED, n_keys=MAX_PLACES).find() is None
    assert search("X -> Y", n_keys=MAX_PLACES).find() is not None
    assert search("X -> Y", n_keys=MAX_PLACES + 1).find() is None


def test_on_a_large_graph_few_distributions_are_looked_at() -> None:
    """A promise of cost, counted, whatever the number of variables."""
    n = 400
    edges = [(f"V{i}", f"V{i + 1}") for i in range(n)]
    more = [(f"V{i}", f"V{i + 7}") for i in range(n - 7)]
    graph = CausalGraph.of(directed=[*edges, *more, (f"V{n}", "S")], selection="S")
    made = search(graph, EffectQuery((f"V{n - 1}",), ("V0",), ()), n_keys=2)
    made.find()

    assert len(made.reader.found) < MAX_DISTRIBUTIONS / 10


# Counts


def test_cells_and_pools_hold_the_rows_that_they_name() -> None:
    """Against counting rows one by one, for a numeric outcome and two factors."""
    rng, n, (low, high) = np.random.default_rng(3), 400, (-2.0, 3.0)
    log = {
        "X": rng.choice(["a", "b", "c"], n).tolist(),
        "C": rng.integers(0, 2, n).tolist(),
        "V": rng.choice(["low", "high"], n).tolist(),
        "W": rng.integers(0, 3, n).tolist(),
        "Y": rng.uniform(low, high, n).tolist(),
    }
    graph = "C -> X; X -> V; V -> W; C -> W; W -> Y; C -> Y; V -> [S]; X <-> W"
    made = found(graph, "Y | do(X), C", log, outcome_range=(low, high))
    lines = [dict(zip(log, row, strict=True)) for row in zip(*log.values(), strict=True)]
    seen = dict[int, set[int]]()
    for i, ((x,), (c,)) in enumerate(made.pairs):
        for leaf, cells in enumerate(product(*(f.cells for f in made.factors))):
            levels = dict(zip(made.variables, sum(cells, ()), strict=True))
            place = {"X": x, "C": c, **levels}.items()
            own = {k for k, line in enumerate(lines) if place <= line.items()}
            seen.setdefault(made.cells[i][leaf], set()).update(own)
    for cell, own in seen.items():
        total = sum((float(str(lines[k]["Y"])) - low) / (high - low) for k in own)
        assert made.n[cell] == len(own)
        assert made.sums[cell] == pytest.approx(total)

    before = list[tuple[object, ...]]([()])
    for factor in made.factors:
        pools = {pool for row in factor.pools for pool in row}
        assert pools == set(range(factor.n_pools))
        assert all(len(row) == len(before) for row in factor.pools)
        held = factor.shares or factor.counts
        assert sum(map(sum, held)) in (0, n)
        before = [(*old, *cell) for old in before for cell in factor.cells]
    assert len(made.factors) > 0
    assert len(made.cells[0]) == len(before)


def test_the_papers_environment_has_eight_rows_of_two_cells_and_a_tilt_by_x1() -> None:
    world = paper_environment()
    made = found(world.graph, world.query, world.log(5_000, 1))
    (factor,) = made.factors

    assert (factor.variables, factor.cells) == (("I1",), ((0,), (1,)))
    assert (len(made.pairs), len(made.n), len(set(made.cells))) == (16, 16, 8)
    assert [pool for (pool,) in factor.pools] == [arm[0] for arm, _ in made.pairs]
    assert factor.shares is not None
    assert sum(map(sum, factor.shares)) == sum(made.n)
    assert factor.counts == ((0, 0), (0, 0))
    assert "one tilt by I1" in factor.reason
    assert made.reasons[0].startswith(
        "rows and rounds with the same I1, U1, X1, X2 have one mean"
    )
    assert "Rule 1: the condition U2 may be dropped" in made.reasons[1]


def test_one_pool_has_no_tilt() -> None:
    world = flipped_environment()
    (factor,) = found(world.graph, world.query, world.log(5_000, 1)).factors

    assert factor.variables == ("Z",)
    assert (factor.n_pools, factor.shares, factor.counts) == (1, None, ((0, 0),))
    assert "from rounds alone" in factor.reason


def test_what_is_not_a_log_of_independent_rows_has_no_plan() -> None:
    world = paper_environment()

    assert "exact distribution" in refusal(world.graph, world.query, world.exact_log())
    assert "not independent" in refusal(TILTED, "Y | do(X)", draw(), cluster="user")
    assert "one value of X" in refusal(TILTED, "Y | do(X)", draw(), hidden=frozenset("X"))


def test_what_is_hidden_is_not_gone_over() -> None:
    said = refusal(TILTED, "Y | do(X)", draw(), hidden=frozenset("W"))

    assert said.endswith("under an arm: selection depends on Y by Y <- W -> S")


def test_an_outcome_that_selects_has_no_plan_and_the_walk_says_why() -> None:
    said = refusal("X -> W -> Y; W -> [S]; Y -> [S]", "Y | do(X)", draw())

    assert said.startswith("rows of the log are not draws of Y under an arm")
    assert "by Y -> S, and given W rows are no better" in said


def test_no_room_and_no_time_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "time" in refusal(TILTED, "Y | do(X)", draw(), seconds=0)
    monkeypatch.setattr(pooling, "MAX_PLACES", 1)
    assert "2 pairs" in refusal(TILTED, "Y | do(X)", draw())


def test_an_adaptive_log_counts_as_any() -> None:
    log = read_log(draw())

    assert found(TILTED, "Y | do(X)", replace(log, adaptive=True)) == found(
        TILTED, "Y | do(X)", log
    )


def test_external_rows_give_weights_and_an_exact_distribution_does_not() -> None:
    log, other = draw(), draw(300, 1)
    law = {"X": [0, 0, 1, 1], "W": [0, 1, 0, 1], "p": [0.25] * 4}
    by_rows = found(TILTED, "Y | do(X)", log, external=[{name: other[name] for name in "XW"}])
    exact = read_log(law, weight="p", exact=True)
    by_law = found(TILTED, "Y | do(X)", log, external=[exact])

    (factor,) = by_rows.factors
    assert sum(map(sum, factor.counts)) == 300
    assert factor.shares is None
    assert "external table" in factor.reason
    assert "exact distribution" in by_law.reasons[-1]
    alone = found(TILTED, "Y | do(X)", log)
    assert replace(by_law, reasons=by_law.reasons[:-1]) == alone
    unused = found(TILTED, "Y | do(X)", log, external=[{"X": other["X"]}])
    assert unused.reasons[-1].startswith("1 external table of rows: not counted")


# Rows that deny a pool


def draw_counts(rng: np.random.Generator, means: Floats, n: int) -> Floats:
    """Failures and successes at all places of some axes."""
    wins = rng.binomial(n, means)
    return np.stack([n - wins, wins], axis=-1).astype(float)


@pytest.mark.parametrize("n", [5, 40, 2_000])
def test_a_right_pool_is_seldom_denied(n: int) -> None:
    rng = np.random.default_rng(n)
    means = np.broadcast_to(rng.uniform(size=(3, 1, 1)), (3, 4, 2))
    wrong = sum(find_denied(draw_counts(rng, means, n), 1) != () for _ in range(400))
    assert wrong <= 8


def test_evidence_is_how_much_likelier_rows_are_on_average() -> None:
    """Six rows of one level and four of another, by the integrals of their likelihoods."""
    p = (np.arange(200_000) + 0.5) / 200_000
    one, other = p**2 * (1 - p) ** 4, p**3 * (1 - p)
    by_hand = one.mean() * other.mean() / (one * other).mean()
    counts = np.array([[[4.0, 2.0], [1.0, 3.0]]])
    assert weigh_split(counts, [0], [1]) == pytest.approx(np.log(by_hand))


def test_axes_that_matter_alone_or_together_are_found() -> None:
    rng = np.random.default_rng(0)
    alone = np.broadcast_to(np.array([0.3, 0.5]).reshape(1, 1, 2), (2, 3, 2))
    together = np.array([[[0.2, 0.8], [0.8, 0.2]]])

    assert find_denied(draw_counts(rng, alone, 300), 1) == (2,)
    assert find_denied(draw_counts(rng, together, 300), 1) == (1, 2)


def test_arms_that_differ_in_the_log_are_not_pooled() -> None:
    """The assumed graph denies X -> Y: its cells would give all arms one mean."""
    model = SCM.of(
        {
            "X": ([], [0.3, 0.3, 0.4]),
            "W": (["X"], [0.3, 0.5, 0.6]),
            "Y": (["X", "W"], [[0.2, 0.4], [0.5, 0.6], [0.3, 0.8]]),
            "S": (["W"], [0.3, 0.8]),
        },
        selection="S",
    )
    world = Environment(model, parse_query("Y | do(X)"))
    log = world.log(4_000, seed=1)
    assumed, right = found(TILTED, world.query, log), found(world.graph, world.query, log)

    assert (assumed.cells, assumed.n, assumed.sums) == (right.cells, right.n, right.sums)
    assert "deny that P(Y | do(W)) does not depend on X" in assumed.reasons[-1]
    assert not any("deny" in reason for reason in right.reasons)
    assert (assumed.n_ways, right.n_ways) == (2, 1)

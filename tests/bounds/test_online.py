"""Living bounds by the graph and the log: pools, cells, and that they hold (THEORY 3.9)."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.prior.narrowing import NarrowingBounds
from boundit.bounds.confidence import bound_share
from boundit.bounds.derive import derive_bounds
from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.online import (
    MOST_CELLS,
    NO_ROWS,
    bound_weights,
    choose_chains,
    find_pooling,
    make_living_plans,
)
from boundit.bounds.rules.chain import Chain, ChainSearch
from boundit.counts.named_array import Floats
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.read import parse_graph
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.simulation.world import World
from boundit.simulation.worlds import paper_world, random_world
from boundit.studies.online.living import count_runs_that_miss
from boundit.terms.bound import Key, Value
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import Factor, FusedPlan
from boundit.terms.interval import Interval
from boundit.terms.living import Living
from tests.bounds.exact import questions
from tests.bounds.reweighted import plug_in

Case = tuple[Model, EffectQuery, Living]


def levels_of(model: Model) -> dict[str, tuple[Value, ...]]:
    return {name: tuple(range(n)) for name, n in model.n_levels.items()}


def plans_of(model: Model, query: EffectQuery) -> tuple[Living, ...]:
    chains = ChainSearch(model.graph, query).find_chains(longest=2)
    return make_living_plans(
        chains, model.graph, query, levels_of(model), (0.0, 1.0), lambda _, __: plug_in(model)
    )


def law(model: Model, query: EffectQuery, plan: Living, key: Key) -> Floats | None:
    """``P(w | do(x), c)`` over the plan's cells; None where the context never happens."""
    effect = model.effect(
        outcomes=plan.variables, treatments=query.treatments, context=query.context
    )
    names = query.treatments + query.context
    found = effect.at(dict(zip(names, key[0] + key[1], strict=True)))  # type: ignore[arg-type]
    shares = found.align(plan.variables).ravel()
    return None if np.isnan(shares).any() else shares


def truth(model: Model, query: EffectQuery, key: Key) -> float:
    effect = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    )
    names = (*query.treatments, *query.context, *query.outcomes)
    return float(effect.at(dict(zip(names, (*key[0], *key[1], 1), strict=True))))  # type: ignore[arg-type]


def cases(seed: int, n: int) -> Iterator[Case]:
    for asked in questions(n, seed, selection=True):
        for plan in plans_of(asked.model, asked.query):
            yield asked.model, asked.query, plan


def test_on_the_papers_graph_i1_is_learned_for_each_x1() -> None:
    world = paper_world()
    shared_by, reason = find_pooling(world.graph, world.query, ["I1"])

    (plan, *_) = plans_of(world.model, world.query)

    assert shared_by == {"X1"}
    assert reason.startswith("P(I1 | do(X1)) is learned online; Rule 3: drop do(X2)")
    assert (plan.variables, plan.levels) == (("I1",), ((0, 1),))
    assert set(plan.pools.values()) == {(0,), (1,)}
    assert all(pool == arm[:1] for (arm, _), pool in plan.pools.items())
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    for key, ends in plan.ends.items():
        worst = Interval(min(e.lower for e in ends), max(e.upper for e in ends))
        assert worst.lower == pytest.approx(table[key].lower)
        assert worst.upper == pytest.approx(table[key].upper)


def test_pairs_of_one_pool_have_one_law() -> None:
    """Rules 1 to 3, on exact models."""
    shared = 0
    for model, query, plan in cases(5, 900):
        laws: dict[object, list[Floats]] = {}
        for key, pool in plan.pools.items():
            found = law(model, query, plan, key)
            if found is not None:
                laws.setdefault(pool, []).append(found)
        for same in laws.values():
            for other in same[1:]:
                np.testing.assert_allclose(other, same[0], atol=1e-9)
                shared += 1
    assert shared > 50


def test_the_mean_of_the_cells_is_the_truth() -> None:
    """What the intervals are weighed with is the law that the pool learns."""
    narrower = 0
    for model, query, plan in cases(6, 700):
        for key, ends in plan.ends.items():
            weights = law(model, query, plan, key)
            if weights is None:
                continue
            lower = float(weights @ [e.lower for e in ends])
            upper = float(weights @ [e.upper for e in ends])
            mean = truth(model, query, key)
            assert lower - 1e-9 <= mean <= upper + 1e-9
            widest = max(e.upper for e in ends) - min(e.lower for e in ends)
            narrower += upper - lower < widest - 0.01
    assert narrower > 50


def fed(model: Model, query: EffectQuery, plan: Living, table: BoundTable) -> NarrowingBounds:
    """What a long play shows, in true frequencies."""
    ends = NarrowingBounds(replace(table, living=(plan,)), 0.05)
    for arm, context in plan.pools:
        shares = law(model, query, plan, (arm, context))
        member = ends.find_member(0, arm, context)
        if shares is not None and member is not None:
            first = ends.claims.pool_starts[ends.claims.pools[member]]
            ends.found.counts[first : first + plan.n_cells] = np.rint(1e6 * shares)
    return ends


def test_fed_with_true_frequencies_the_living_ends_hold_the_truth() -> None:
    inside = 0
    for model, query, plan in cases(7, 1_000):
        rows = [
            dict(zip(query.treatments + query.context, arm + c, strict=True))
            | {"lower": 0.0, "upper": 1.0}
            for arm, c in plan.pools
        ]
        table = BoundTable.from_rows(
            rows,
            outcome=query.outcomes[0],
            treatments=query.treatments,
            context=query.context,
            reward_range=(0, 1),
        )
        ends = fed(model, query, plan, table)
        assert ends.settle() is None
        for arm, context in plan.pools:
            mean = truth(model, query, (arm, context))
            if not np.isnan(mean):
                lower, upper = ends.find_ends(arm, context) or (1, 0)
                assert lower - 1e-9 <= mean <= upper + 1e-9
                inside += 1
    assert inside > 80


def chain_of(world_query: EffectQuery, *variables: str, longest: int = 2) -> Chain:
    world = paper_world()
    for chain in ChainSearch(world.graph, world_query).find_chains(longest=longest):
        if set(chain.variables) == set(variables):
            return chain
    raise LookupError(variables)


def test_where_something_is_known_whole_nothing_is_learned() -> None:
    query = paper_world().query
    open_chain = chain_of(query, "I1")
    known = replace(open_chain, links=())

    levels = {"I1": (0, 1)}
    assert choose_chains([open_chain], levels) == [open_chain]
    assert choose_chains([open_chain, known], levels) == []
    assert choose_chains([open_chain, "no chain"], levels) == [open_chain]


def test_plans_are_few_and_small() -> None:
    chain = chain_of(paper_world().query, "I1")
    (link,) = chain.links
    chains = [
        replace(chain, links=tuple(replace(link, variable=name) for name in names))
        for names in product("ABC")
    ]
    levels = {"A": tuple(range(MOST_CELLS + 1)), "B": (0, 1, 2), "C": (0, 1)}

    assert choose_chains(chains, levels) == [chains[2], chains[1]]
    assert len(choose_chains(chains, dict.fromkeys("ABC", (0, 1)))) == 2


def test_ends_are_on_the_rewards_scale() -> None:
    world = paper_world()
    chains = list(ChainSearch(world.graph, world.query).find_chains(longest=1))

    def plan(reward_range: tuple[float, float]) -> Living:
        (found,) = make_living_plans(
            chains,
            world.graph,
            world.query,
            levels_of(world.model),
            reward_range,
            lambda _, __: plug_in(world.model),
        )
        return found

    for key, ends in plan((0.0, 1.0)).ends.items():
        for one, other in zip(ends, plan((-2.0, 8.0)).ends[key], strict=True):
            assert other.lower == pytest.approx(10 * one.lower - 2)
            assert other.upper == pytest.approx(10 * one.upper - 2)


def test_cells_that_rounds_go_on_with_are_a_little_wider_than_by_the_whole_error() -> None:
    """Half of the error is left for what follows: at most 8 % wider, and never narrower."""
    world = paper_world()
    log = world.log(30_000, seed=0)
    table = derive_bounds(world.graph, world.query, log)
    (plan,), fused = table.living, table.fused
    assert isinstance(fused, FusedPlan)
    assert fused.variables == plan.variables

    n, k = np.array(fused.n), np.rint(fused.sums)
    before = np.diff(bound_share(k, n, 0.05 / len(n)), axis=0)[0]
    for pair, cells in zip(fused.pairs, fused.cells, strict=True):
        now = [interval.width for interval in plan.ends[pair]]
        ratios = np.array(now) / before[list(cells)]
        assert (ratios > 1).all()
        assert (ratios < 1.08).all()


def test_without_rows_that_count_cells_have_the_whole_error() -> None:
    model, query = paper_world().model, paper_world().query
    chains = list(ChainSearch(model.graph, query).find_chains(longest=1))
    shares = []
    (factor,) = (Factor(("I1",), ((0,), (1,)), (), ()),)
    for fused in (NO_ROWS, FusedPlan((), (factor,), (), (), ())):

        def note(_: object, share: float) -> PlugInNumbers:
            shares.append(share)
            return plug_in(model)

        levels = levels_of(model)
        make_living_plans(chains, model.graph, query, levels, (0.0, 1.0), note, fused)

    assert shares == [1.0, 0.5]


def test_ends_hold_at_all_times_from_fresh_logs_of_random_worlds() -> None:
    """Cells and weights at once, under the policy's own choices."""
    missed, followed = 0, 0
    for seed in range(8):
        world = random_world(seed)
        table = derive_bounds(world.graph, world.query, world.log(1_500, seed=seed))
        if not isinstance(table.fused, FusedPlan) or not table.living:
            continue
        policy, runs = LinUCB(prior=table, floor=True), range(3)
        missed += count_runs_that_miss(world, table, policy, runs, 500, seed, 0.05)
        followed += len(runs)
    assert followed >= 12
    assert missed <= 1


def test_rows_of_weights_bound_these_before_the_first_round() -> None:
    """Z has an external table; its exact interval has as much error as each of four cells."""
    graph = parse_graph("Z -> X; Z -> Y; X -> M -> Y; M -> [S]")
    model = draw_model(graph, np.random.default_rng(0), levels=(2,))
    log = World(model, parse_query("Y | do(X)")).log(3_000, seed=1)
    external = [{"Z": [0] * 700 + [1] * 300}]
    table = derive_bounds(graph, "Y | do(X)", log, external=external)
    plain, plan = table.living

    assert isinstance(table.fused, FusedPlan)
    assert [factor.variables for factor in table.fused.factors] == [("M",), ("Z",)]
    assert plain.chances == ()
    of_m, ((zero, one),) = plan.chances
    assert of_m == ((Interval(0.0, 1.0),) * 2,) * 2
    low, high = bound_share(np.array(700.0), np.array(1000.0), 0.5 * 0.05 / 5)
    assert (zero.lower, zero.upper) == pytest.approx((float(low), float(high)))
    assert one.lower == pytest.approx(1 - zero.upper)
    ends = NarrowingBounds(table, 0.05)
    assert ends.found.low.max() == zero.lower
    alone = bound_weights(plain, table.fused, 0.05, bound_share)
    assert alone is plain
    assert bound_weights(plan, NO_ROWS, 0.05, bound_share) is plan

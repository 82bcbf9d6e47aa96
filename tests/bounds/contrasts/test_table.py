from dataclasses import replace
from itertools import product

import pytest

from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.table import collect_contrasts, find_shared
from boundit.bounds.contrasts.type_differences import SharedTypes
from boundit.bounds.derive import derive_bounds
from boundit.bounds.plan import plan_bounds
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.worlds import paper_world
from boundit.terms.long_work import TimeBudget
from boundit_research.theory import count_ruled_out
from tests.bounds.contrasts.compared import (
    NOTHING,
    RATE,
    derive_with_contrasts,
    share_chains,
)
from tests.bounds.reweighted import plug_in
from tests.paper import FIGURE_2


def test_the_papers_contrast_under_a_free_reweighting() -> None:
    """Section 3.8: x1=1 less x1=0 in [-0.014, 0.042], apart only in [-0.223, 0.200]."""
    world = paper_world()
    table = derive_with_contrasts(world.model, world.query, NOTHING)

    for x2 in (0, 1):
        assert table.contrast((1, x2), (0, x2), (0, 0)) == pytest.approx(0.0421, abs=2e-4)
        assert table.contrast((0, x2), (1, x2), (0, 0)) == pytest.approx(0.0139, abs=2e-4)
        apart = table[(0, x2), (0, 0)].upper - table[(1, x2), (0, 0)].lower
        assert apart == pytest.approx(0.2232, abs=1e-4)
        truly = world.mean((1, x2), (0, 0)) - world.mean((0, x2), (0, 0))
        assert -0.0140 <= truly <= 0.0423


def test_with_the_selection_rate_the_papers_better_arm_is_certain() -> None:
    """Section 3.8: [0.0001, 0.042], so x1=0 is dominated: all but the best arm, everywhere.

    The paper's count needs the best mean to compare with; dominance needs no mean at all.
    """
    world = paper_world()
    free = derive_with_contrasts(world.model, world.query, NOTHING)
    informed = derive_with_contrasts(world.model, world.query, RATE)
    pruned = {
        name: sum(len(table.ruled_out(context)) for context in table.contexts)
        for name, table in {"free": free, "informed": informed}.items()
    }

    assert informed.contrast((0, 0), (1, 0), (0, 0)) == pytest.approx(-0.0000923, abs=1e-6)
    assert all((1, 1) not in informed.ruled_out(context) for context in informed.contexts)
    assert all((0, x2) in informed.ruled_out(c) for c in informed.contexts for x2 in (0, 1))
    assert pruned == {"free": 8, "informed": 12}
    assert count_ruled_out(free, world.means()) == 8
    assert not any(replace(free, contrasts={}).ruled_out(c) for c in free.contexts)


def test_numbers_are_scaled_to_the_rewards_range_and_kept_where_they_say_more() -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    scaled = {
        key: replace(bound, lower=10 * bound.lower, upper=10 * bound.upper)
        for key, bound in table.bounds.items()
    }
    chains = share_chains(world.graph, world.query, NOTHING)
    numbers = plug_in(world.model)
    found = collect_contrasts(chains, numbers, world.query, table.levels, scaled, (0.0, 10.0))
    narrow = {key: replace(b, lower=5.0, upper=5.1) for key, b in scaled.items()}
    fewer = collect_contrasts(chains, numbers, world.query, table.levels, narrow, (0.0, 10.0))

    assert found[(0, 0), (1, 0), (0, 0)] == pytest.approx(0.421, abs=2e-3)
    assert fewer == {pair: most for pair, most in found.items() if most < 0.1}


def test_with_very_many_pairs_only_cheap_chains_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    monkeypatch.setattr("boundit.bounds.contrasts.table.MOST_PAIRS", 10)
    found = collect_contrasts(
        share_chains(world.graph, world.query, NOTHING),
        plug_in(world.model),
        world.query,
        table.levels,
        table.bounds,
        (0.0, 1.0),
    )

    assert ((0, 0), (0, 0), (0, 1)) in found
    assert ((0, 0), (0, 0), (1, 0)) not in found


def test_out_of_time_no_chain_is_begun() -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)

    assert not collect_contrasts(
        share_chains(world.graph, world.query, NOTHING),
        plug_in(world.model),
        world.query,
        table.levels,
        table.bounds,
        (0.0, 1.0),
        budget=TimeBudget(0.0),
    )


def test_of_very_many_only_those_that_rule_an_arm_out_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = paper_world()
    asked = {"confidence": None, "selection_rate": world.model.selection_rate()}
    every = derive_bounds(world.graph, world.query, world.exact_log(), **asked)  # type: ignore[arg-type]
    monkeypatch.setattr("boundit.bounds.contrasts.table.MOST_KEPT", -1)
    few = derive_bounds(world.graph, world.query, world.exact_log(), **asked)  # type: ignore[arg-type]

    assert few.contrasts == {pair: most for pair, most in every.contrasts.items() if most < 0}
    assert 0 < len(few.contrasts) < len(every.contrasts)
    assert all(few.ruled_out(c) == every.ruled_out(c) for c in product((0, 1), repeat=2))


def list_shared(graph: str, query: str) -> dict[str, type]:
    plan = plan_bounds(parse(graph), parse_query(query))
    return {p.record.name: type(find_shared(p.rule, plan.graph)) for p in plan.rules}


def test_chains_share_the_laws_of_their_links() -> None:
    plan = plan_bounds(FIGURE_2, parse_query("Y | do(X1, X2), U1, U2"))
    plain, *reweighted = (find_shared(p.rule, plan.graph) for p in plan.rules)

    assert isinstance(plain, SharedChain)
    assert not plain.has_block
    assert all(isinstance(each, SharedChain) and each.has_block for each in reweighted)


def test_programs_share_the_law_of_types_and_natural_bounds_share_nothing() -> None:
    shared = list_shared("Z -> X -> Y; X <-> Y", "Y | do(X)")

    assert shared["program over X, Y across Z"] is SharedTypes
    assert shared["natural bounds of X, Y"] is type(None)

"""What rows tell of a law, against the exact laws of random models."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from boundit.bounds.choose_rules import POLICY, draw_policy
from boundit.bounds.fused.pooled_law import LawReader, PooledLaw
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.identify import identify
from boundit.estimand.query import parse_query
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.terms.names import Nodes
from tests.bounds.exact import Asked, questions

SAME = 1e-9
CONFOUNDED = "Z -> X; Z -> W; X -> W; W -> Y; X -> Y"
"""FUSED: Z moves X and W, and nothing selects."""


def subsets(names: Nodes, most: int, least: int = 0) -> Iterator[Nodes]:
    for size in range(least, most + 1):
        yield from map(frozenset, combinations(sorted(names), size))


def laws(asked: Asked, reader: LawReader) -> Iterator[PooledLaw]:
    """Every law of one or two variables given up to two others, the outcome's among them."""
    query = asked.query
    free = asked.model.graph.observed - set(query.treatments + query.context)
    for of in subsets(free, 2, 1):
        for before in subsets(free - of, 2):
            yield reader.find_law(of, before)


def spread(law: NamedArray, law_of: PooledLaw) -> Floats:
    """A law over (what it does not depend on, what it depends on, its variables)."""
    whole = law_of.asked.treatments | law_of.asked.context
    rest, kept = sorted(whole - law_of.given), sorted(law_of.given)
    found = law.align((*rest, *kept, *sorted(law_of.of)))
    n_rest, n_kept = len(rest), len(kept)
    shape = found.shape
    sizes = [
        int(np.prod(shape[:n_rest])),
        int(np.prod(shape[n_rest : n_rest + n_kept])),
        int(np.prod(shape[n_rest + n_kept :])),
    ]
    return found.reshape(sizes)


def of_rows(model: Model, law: PooledLaw) -> Floats:
    """``P(of | given, S=1)``, over (given, of)."""
    joint = model.log(law.of | law.given)
    found = joint.condition_on(law.given).align((*sorted(law.given), *sorted(law.of)))
    n_cells = int(np.prod([model.n_levels[name] for name in law.of]))
    return found.reshape(-1, n_cells)


def test_laws_are_shared_shown_and_bent_as_is_said() -> None:
    """Rules 1 to 3, on graphs with selection, hidden causes, one or two arms, 2 or 3 levels."""
    used = {"pools": 0, "draws": 0, "tilts": 0, "tables": 0}
    for asked in questions(250, 11):
        model, query = asked.model, asked.query
        everyone = [model.graph.observed]
        reader = LawReader(model.graph, query, tables=everyone)
        for law in laws(asked, reader):
            effect = model.effect(
                outcomes=law.of, treatments=law.asked.treatments, context=law.asked.context
            )
            each = spread(effect, law)
            pools = each[0]
            assert np.abs(each - pools).max() < SAME
            used["pools"] += 1
            if reader.are_draws(law):
                assert np.abs(of_rows(model, law) - pools).max() < SAME
                used["draws"] += 1
            if reader.has_tilt(law):
                bent = np.log(of_rows(model, law)) - np.log(pools)
                tilt = bent - bent[:, :1]
                assert np.abs(tilt - tilt[0]).max() < SAME
                used["tilts"] += 1
            if reader.find_tables(law):
                known = model.law(law.of | law.given).condition_on(law.given)
                seen = known.align((*sorted(law.given), *sorted(law.of)))
                assert np.abs(seen.reshape(pools.shape) - pools).max() < SAME
                used["tables"] += 1
    assert min(used.values()) > 100, used


def test_recoverable_is_not_enough() -> None:
    """FUSED (W2): ``P(W | do(X))`` has a formula, and the log's share of W is not it."""
    graph, query = parse(CONFOUNDED), parse_query("Y | do(X)")
    reader = LawReader(graph, query)
    weights = reader.find_law(frozenset("W"))

    assert identify(graph, parse_query("W | do(X)"))
    assert not reader.are_draws(weights)
    assert reader.are_draws(reader.find_law(frozenset("Y"), frozenset("W")))
    assert reader.are_draws(reader.find_law(frozenset("W"), frozenset("Z")))
    assert reader.are_draws(reader.find_law(frozenset("Z")))
    assert reader.explain_refusal(weights) == "what made X come about in the log tells of W"

    model = Model(
        graph,
        {
            "Z": ([], [0.5, 0.5]),
            "X": (["Z"], [[0.9, 0.1], [0.1, 0.9]]),
            "W": (
                ["X", "Z"],
                [[[1 - p, p] for p in (0.1 + 0.2 * x, 0.7 + 0.2 * x)] for x in (0, 1)],
            ),
            "Y": (
                ["X", "W"],
                [[[1 - p, p] for p in (0.2 + 0.1 * x, 0.7 + 0.1 * x)] for x in (0, 1)],
            ),
        },
    )
    seen = model.log(["W", "X"]).condition_on("X").at({"X": 1, "W": 1})
    done = model.effect(outcomes="W", treatments="X").at({"X": 1, "W": 1})
    assert float(seen) == pytest.approx(0.84)
    assert float(done) == pytest.approx(0.6)


def test_a_law_that_selection_tells_of_is_no_draw_and_says_how() -> None:
    reader = LawReader(parse("X -> W -> Y; W -> [S]"), parse_query("Y | do(X)"))
    law = reader.find_law(frozenset("W"))

    assert not reader.are_draws(law)
    assert reader.has_tilt(law)
    assert reader.explain_refusal(law) == "selection tells of W by W -> S"


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
    reader = LawReader(parse(text), parse_query("Y | do(X)"))

    assert not reader.has_tilt(reader.find_law(frozenset("W")))


def test_under_a_policy_that_learned_selection_may_change_the_tilt() -> None:
    """How often each X2 came is what the policy changed, and S hangs on it beside W."""
    graph, query = parse("X1 -> W -> Y; X2 -> Y; W -> [S]; X2 -> [S]"), "Y | do(X1, X2)"
    alone, learned = (
        LawReader(graph, parse_query(query), adaptive=adaptive) for adaptive in (False, True)
    )
    law = alone.find_law(frozenset("W"))

    assert alone.has_tilt(law)
    assert not learned.has_tilt(law)
    without = parse("X1 -> W -> Y; X2 -> Y; W -> [S]")
    assert LawReader(without, parse_query(query), adaptive=True).has_tilt(law)


def test_rows_that_are_draws_are_draws_under_every_policy() -> None:
    """What ``keep_stable`` asks of bounds holds by itself where rows are draws."""
    n_draws = 0
    for asked in questions(150, 5):
        query, graph = asked.query, asked.model.graph
        reader, drawn = LawReader(graph, query), draw_policy(graph, query.treatments)
        chosen = {graph.selection} if graph.selection else set[str]()
        for law in filter(reader.are_draws, laws(asked, reader)):
            assert open_walk(drawn, law.of, POLICY, given=law.given | chosen) is None
            n_draws += 1
    assert n_draws > 100

"""Orders of levels, against all orders and against the exact law of the log."""

import random
from itertools import permutations

import numpy as np
import pytest

from boundit.bounds.claims.level_form import RatioForm
from boundit.bounds.claims.order_levels import MOST_FOLDS, Reading, order_readings
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.terms.names import sort_names
from tests.bounds.claims.exact_forms import draw_forms, find_law
from tests.nodes import make_nodes
from tests.strategies import random_graph, some_of

A, B, C = (make_nodes(name) for name in "ABC")
FREE = frozenset[int]()


@pytest.mark.full
def test_what_was_revealed_leaves_the_law_of_every_level_as_it_is() -> None:
    """On the exact law of the rows, whatever the graph was asked."""
    n_beyond = 0
    for asked, _, form in draw_forms():
        inner = form.form if isinstance(form, RatioForm) else form
        revealed = dict[tuple[bool, int], frozenset[str]]()
        for level in inner.levels:
            of, given = level.term.of, level.term.given
            logged = level.term.logged or asked.model.graph.selection is None
            before = revealed.get((logged, level.fold), frozenset())
            assert not before & of
            n_beyond += bool(before - given)
            law = find_law(asked.model, level).marginalize(before | of | given)
            order = sort_names(law.names)
            told = law.condition_on(before | given).align(order)
            plain = law.marginalize(of | given).condition_on(given).align(order)
            np.testing.assert_allclose(told, np.broadcast_to(plain, told.shape), atol=1e-9)
            revealed[logged, level.fold] = before | of | given
    assert n_beyond > 0


def _holds(readings: list[Reading], order: tuple[int, ...], graph: CausalGraph) -> bool:
    """Check an order without folds, one level after another."""
    selection = {graph.selection} if graph.selection else set[str]()
    revealed = dict[bool, frozenset[str]]()
    for done, place in enumerate(order):
        reading = readings[place]
        before = revealed.get(reading.logged, frozenset())
        given = reading.given | selection if reading.logged else reading.given
        beyond = before - reading.given
        if before & reading.of or not reading.after <= {*order[:done]}:
            return False
        if beyond and open_walk(graph, beyond, reading.of, given=given) is not None:
            return False
        revealed[reading.logged] = before | reading.of | reading.given
    return True


def test_an_order_without_folds_is_found_wherever_there_is_one() -> None:
    rng, found = random.Random(8), {True: 0, False: 0}
    for _ in range(400):
        graph = random_graph(rng, 5, selection=rng.random() < 0.5)
        readings = list[Reading]()
        for place in range(rng.randint(1, 4)):
            names = sort_names(graph.observed)
            of = frozenset(rng.sample(names, 1)) | some_of(rng, names, 0.1)
            given = some_of(rng, names, 0.4) - of
            after = frozenset(other for other in range(place) if rng.random() < 0.2)
            readings.append(Reading(of, given, rng.random() < 0.8, after))
        order = order_readings(readings, graph)
        orders = permutations(range(len(readings)))
        possible = any(_holds(readings, each, graph) for each in orders)
        whole = order is not None and not any(fold for _, fold in order)
        assert whole == possible
        found[possible] += 1
        if order is not None:
            for fold in range(MOST_FOLDS):
                own = [place for place, other in order if other == fold]
                kept = {place: new for new, place in enumerate(own)}
                part = [
                    Reading(each.of, each.given, each.logged, FREE)
                    for each in map(readings.__getitem__, own)
                ]
                assert _holds(part, tuple(kept.values()), graph)
    assert min(found.values()) > 50


def test_a_column_is_read_once_in_each_fold_and_in_three_at_most() -> None:
    graph = parse("A -> B")

    def order(n: int) -> object:
        return order_readings([Reading(A, frozenset(), True, FREE)] * n, graph)

    assert order(1) == ((0, 0),)
    assert order(3) is not None
    assert order(4) is None


def test_tables_of_everyone_share_no_rows_with_the_log() -> None:
    graph = parse("A -> B -> [S]")
    logged = Reading(A, frozenset(), True, FREE)

    assert order_readings([logged, Reading(A, frozenset(), False, FREE)], graph) == (
        (0, 0),
        (1, 0),
    )
    folded = order_readings([logged, logged], graph)
    assert folded is not None
    assert {fold for _, fold in folded} == {0, 1}


def test_selection_is_given_to_the_log_alone() -> None:
    """A and B cause selection: the log ties them together, and the population does not."""
    graph = parse("A -> [S]; B -> [S]")
    for logged in (True, False):
        readings = [
            Reading(A, frozenset(), logged, FREE),
            Reading(B, frozenset(), logged, FREE),
        ]
        order = order_readings(readings, graph)
        assert order is not None
        assert any(fold for _, fold in order) is logged


def test_readings_that_wait_for_each_other_have_no_order() -> None:
    graph = parse("A -> B -> C")
    readings = [Reading(A, B, True, frozenset({1})), Reading(B, A, True, frozenset({0}))]

    assert order_readings(readings, graph) is None
    many = [Reading(C, frozenset(), True, frozenset({(i + 1) % 12})) for i in range(12)]
    assert order_readings(many, graph) is None

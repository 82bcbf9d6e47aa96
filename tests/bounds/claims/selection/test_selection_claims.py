"""Claims on means of the population: they hold, close in on the set, and choose blindly."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.claims.selection.selection_claims import make_selection_claims
from boundit.bounds.claims.selection.selection_form import find_selection_form
from boundit.bounds.derive import derive_bounds
from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.rules.natural import NaturalBounds
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.graph.text import parse
from tests.bounds.claims.selection.worlds import (
    BOW,
    LIMIT,
    MEDIATOR,
    RATE,
    draw_law,
    find_mean,
    make_claims,
    open_counts,
    plan,
    split,
)

ERROR = np.full((1,), np.log(40.0))
CASES = [
    (MEDIATOR, LIMIT, (2, 3, 2), "XMY", ()),
    (BOW, RATE, (2, 2), "XY", ()),
    (MEDIATOR, LIMIT, (2, 3, 2), "XMY", ("X",)),
]


def find_set(
    graph: str, facts: SelectionFacts, law: Floats, names: str, tables: dict[str, Floats]
) -> tuple[Floats, Floats]:
    """Find the set that the rule identifies, by its own linear programs on exact laws."""
    form = find_mean(graph, facts, [frozenset(name) for name in tables])
    rules = [each.rule for each in plan(graph, facts, [*map(frozenset, tables)]).rules]
    (rule,) = [
        rule
        for rule in rules
        if isinstance(rule, ReweightedChain | NaturalBounds)
        and find_selection_form(rule) == form
    ]
    external = [NamedArray((name,), each) for name, each in tables.items()]
    ends = rule.find_ends(PlugInNumbers(Evaluator(NamedArray(tuple(names), law), external)))
    return ends.lower, ends.upper


def find_ends(
    graph: str, facts: SelectionFacts, counts: Floats, names: str, tables: dict[str, Floats]
) -> tuple[Floats, Floats]:
    """Find both ends of every arm by claims."""
    form = find_mean(graph, facts, [frozenset(name) for name in tables])
    claims = make_claims(form, counts, names, tables)
    ends = []
    for upper in (False, True):
        choice = claims.choose(ERROR, upper=upper)
        ends.append(claims.bound(choice, ERROR, upper=upper))
    return ends[0], ends[1]


@pytest.mark.parametrize(("graph", "facts", "shape", "names", "tables"), CASES)
def test_ends_close_in_on_the_identified_set(
    graph: str,
    facts: SelectionFacts,
    shape: Sequence[int],
    names: str,
    tables: Sequence[str],
) -> None:
    law = draw_law(np.random.default_rng(4), shape)
    shares = {name: law.sum(axis=(1, 2)) for name in tables}  # as if nothing were selected
    low, high = find_set(graph, facts, law, names, shares)
    for rows, near in ((3_000, 0.2), (3_000_000, 0.012)):
        counts = np.rint(rows * law)
        ends = find_ends(
            graph, facts, counts, names, {n: np.rint(rows * s) for n, s in shares.items()}
        )
        assert (ends[0] <= low + 1e-6).all()
        assert (ends[1] >= high - 1e-6).all()
        assert (ends[0] >= low - near).all()
        assert (ends[1] <= high + near).all()


@pytest.mark.parametrize(("graph", "facts", "shape", "names", "tables"), CASES)
def test_ends_miss_the_set_seldom(
    graph: str,
    facts: SelectionFacts,
    shape: Sequence[int],
    names: str,
    tables: Sequence[str],
) -> None:
    rng = np.random.default_rng(9)
    law = draw_law(rng, shape)
    shares = {name: law.sum(axis=(1, 2)) for name in tables}
    low, high = find_set(graph, facts, law, names, shares)
    missed = 0
    for _ in range(60):
        counts = rng.multinomial(800, law.ravel()).reshape(law.shape).astype(float)
        drawn = {n: rng.multinomial(800, s).astype(float) for n, s in shares.items()}
        ends = find_ends(graph, facts, counts, names, drawn)
        missed += int((ends[0] > low).any() or (ends[1] < high).any())
    assert missed <= 12, "at most a tenth is allowed"


def test_no_choice_moves_with_the_rows_of_the_rest() -> None:
    law = draw_law(np.random.default_rng(2), (2, 3, 2))
    form = find_mean(MEDIATOR, LIMIT)
    claims = make_claims(form, np.rint(3_000 * law), "XMY")
    chosen = claims.choose(ERROR, upper=False)
    flipped = replace(claims.cells, counts=claims.cells.counts[:, ::-1])
    claims.cells = flipped
    again = claims.choose(ERROR, upper=False)
    for place, bets in chosen.bets.items():
        other = again.bets[place]
        assert bets is not None
        assert other is not None
        assert (bets.steps == other.steps).all()
        assert (bets.total == other.total).all()
        assert (bets.scale == other.scale).all()
    assert (chosen.predicted == again.predicted).all()


def test_a_table_with_too_many_ends_keeps_its_boxes() -> None:
    counts = np.ones((2, 3, 2))
    levels = {"X": 600, "M": 3, "Y": 2}
    made = make_selection_claims(
        find_mean(MEDIATOR, LIMIT), split(counts, "XMY"), levels, Workspace.make_default()
    )
    assert isinstance(made, Unmet)


def test_many_cells_are_narrower_than_their_boxes() -> None:
    """A mediator of eight levels: boxes would add up the worst cases of 32 cells."""
    law = draw_law(np.random.default_rng(8), (2, 8, 2))
    log = open_counts(np.rint(5_000 * law), "XMY")
    table = derive_bounds(parse(MEDIATOR), "Y | do(X)", log, selection_limit=2.0)
    no_claims = derive_bounds(
        parse(MEDIATOR),
        "Y | do(X)",
        open_counts(np.rint(400 * law), "XMY"),
        selection_limit=2.0,
    )
    for key, row in table.bounds.items():
        assert row.upper - row.lower < no_claims.bounds[key].upper - no_claims.bounds[key].lower
    sampling = table.bounds[(0,), ()].sampling
    assert sampling is not None
    assert sampling.lower is not None
    assert sampling.lower.boxes is None

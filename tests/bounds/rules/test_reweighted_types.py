"""Which programs of the population there are when rows were selected (3.4 with 3.5)."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.derive import derive_bounds
from boundit.bounds.numbers import LEFT_OUT, UNFINISHED
from boundit.bounds.rules import reweighted_types
from boundit.bounds.rules.reweighted_types import ReweightedTypes, find_reweighted_types
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.counts.named_array import Floats
from boundit.counts.read import read_log
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from tests.bounds.exact import as_log
from tests.bounds.programs import models
from tests.nodes import make_nodes
from tests.oracles.balke_pearl import is_instrumental, solve_balke_pearl

RATE = SelectionFacts((0.5, 0.5))
INSTRUMENT = "Z -> X -> Y; X <-> Y; X -> [S]; Y -> [S]"


def found_in(
    text: str, asked: str = "Y | do(X)", facts: SelectionFacts = RATE, tables: str = ""
) -> list[ReweightedTypes]:
    held = [make_nodes(*table) for table in tables.split()]
    return find_reweighted_types(parse(text), parse_query(asked), facts, held)


def test_an_instrument_is_varied_and_its_chance_is_unknown_under_selection() -> None:
    (found,) = found_in(INSTRUMENT)

    assert (found.program.inside, found.program.varied) == (("X", "Y"), ("Z",))
    assert found.reweighting.steering == {"X", "Y"}
    assert found.chances is None


def test_a_table_of_the_instrument_tells_its_chance() -> None:
    (found,) = found_in(INSTRUMENT, facts=NOTHING_KNOWN, tables="Z")

    assert found.chances is not None
    assert found.reweighting.tables == (make_nodes("Z"),)


def test_the_context_has_one_value_in_a_program() -> None:
    text = f"{INSTRUMENT}; C -> Z; C -> X; C -> Y"
    (found, *_) = found_in(text, "Y | do(X), C")

    assert found.given == {"C"}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Z -> X -> Y; X <-> Y", RATE),  # nothing was selected
        ("Z -> X -> Y; X -> [S]", RATE),  # nothing is confounded
        ("X -> M -> Y; X <-> Y; X <-> M; Y -> [S]", NOTHING_KNOWN),
        ("X -> Y; X <-> Y; X -> [S]", RATE),  # natural bounds do as well
    ],
)
def test_there_is_none_where_it_says_no_more(text: str, facts: SelectionFacts) -> None:
    assert found_in(text, facts=facts) == []


def test_an_instrument_says_something_where_nothing_is_known() -> None:
    (found,) = found_in(INSTRUMENT, facts=NOTHING_KNOWN)

    assert found.program.varied == ("Z",)


def test_the_rule_says_what_is_reproduced_and_what_is_known_of_selection() -> None:
    (found,) = found_in(INSTRUMENT)
    rule = found.write_record()

    assert rule.name == "program over X, Y across Z, reweighted"
    assert "agree with P*(X, Y | Z) at every Z" in str(rule.claim)
    assert "r >= 0.5 (selection rate)" in str(rule.claim)
    assert str(rule.steps[-1]) == "Rule 1: given X, Y, selection tells nothing of Z"


BY_ARM = "Z -> X -> Y; X <-> Y; X -> [S]"
GRAPHS = (
    BY_ARM,
    "Z -> X -> Y; X <-> Y; Y -> [S]",
    "Z -> X -> Y; X <-> Y; X -> [S]; Y -> [S]; Z -> [S]",
    "Z -> X -> Y; Z <-> X; X <-> Y; Z -> [S]; [S] <-> Y",
    "Z -> X -> M -> Y; X <-> Y; X <-> M; M -> [S]",
)


def rows(model: Model, context: tuple[str, ...] = ()) -> Iterator[tuple[int, ...]]:
    yield from np.ndindex(*(model.n_levels[name] for name in ("X", *context)))


def truth(model: Model, place: tuple[int, ...], context: tuple[str, ...] = ()) -> float:
    effect = model.effect(outcomes="Y", treatments="X", context=context).at({"Y": 1})
    return float(effect.at(dict(zip(("X", *context), place, strict=True))))


@pytest.mark.parametrize("text", GRAPHS)
@pytest.mark.parametrize("levels", [(2,), (2, 3)])
def test_no_end_misses_with_the_true_rate(text: str, levels: tuple[int, ...]) -> None:
    graph, used = parse(text), set[str]()
    for model in models(text, 6, default_rng(len(text)), levels, zeros=0.2):
        log, rate = as_log(model.log()), model.selection_rate()
        table = derive_bounds(graph, "Y | do(X)", log, confidence=None, selection_rate=rate)
        for place in rows(model):
            bound = table[place[0], ()]
            assert bound.lower - 1e-9 <= truth(model, place) <= bound.upper + 1e-9
        used |= {rule for b in table.bounds.values() for rule in (b.lower_rule, b.upper_rule)}
    assert any(rule.startswith("program") for rule in used)


def test_no_end_misses_given_a_context_and_a_table_of_the_instrument() -> None:
    text = "C -> Z; C -> X; C -> Y; Z -> X -> Y; X <-> Y; X -> [S]; C -> [S]"
    for model in models(text, 6, default_rng(5)):
        asked = {"external": [as_log(model.law(("Z", "C")))], "confidence": None}
        log = as_log(model.log())
        table = derive_bounds(parse(text), "Y | do(X), C", log, **asked)  # type: ignore[arg-type]
        for x, c in rows(model, ("C",)):
            bound = table[x, c]
            assert bound.lower - 1e-9 <= truth(model, (x, c), ("C",)) <= bound.upper + 1e-9
            assert bound.width < 1


def swept(model: Model, rate: float) -> tuple[Floats, Floats]:
    """Try every weight of the logged rows with X = 1, and take the widest of the ends."""
    logged = model.log().align(("Y", "X", "Z"))
    share = logged.sum(axis=(0, 2))
    lowest, highest = np.ones(2), np.zeros(2)
    for mass in np.linspace(rate * share[1], 1 - rate * share[0], 2_001):
        weights = np.array([(1 - mass) / share[0], mass / share[1]])
        population = logged * weights[None, :, None]
        p = population / population.sum(axis=(0, 1))
        if is_instrumental(p):
            low, high = solve_balke_pearl(p)
            lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
    return lowest, highest


def test_one_unknown_weight_is_searched_to_the_end() -> None:
    """With X alone steering selection, a sweep of its one weight by closed forms is sharp."""
    gaps = []
    for model in models(BY_ARM, 12, default_rng(2)):
        rate = model.selection_rate()
        lowest, highest = swept(model, rate)
        table = derive_bounds(
            parse(BY_ARM),
            "Y | do(X)",
            as_log(model.log()),
            confidence=None,
            selection_rate=rate,
        )
        for x in (0, 1):
            bound = table[x, ()]
            assert bound.lower <= lowest[x] + 1e-7
            assert bound.upper >= highest[x] - 1e-7
            gaps += [lowest[x] - bound.lower, bound.upper - highest[x]]
    assert max(gaps) < 0.01
    assert np.median(gaps) < 1e-6


def test_the_chance_of_the_instrument_narrows_further() -> None:
    """Who knows P(z) as well is never worse off, and mostly better."""
    better = 0
    for model in models(BY_ARM, 8, default_rng(3)):
        asked = {"confidence": None, "selection_rate": model.selection_rate()}
        log, graph = as_log(model.log()), parse(BY_ARM)
        plain = derive_bounds(graph, "Y | do(X)", log, **asked)  # type: ignore[arg-type]
        asked["external"] = [as_log(model.law("Z"))]  # type: ignore[assignment]
        told = derive_bounds(graph, "Y | do(X)", log, **asked)  # type: ignore[arg-type]
        for x in (0, 1):
            assert told[x, ()].lower >= plain[x, ()].lower - 1e-6
            assert told[x, ()].upper <= plain[x, ()].upper + 1e-6
            better += told[x, ()].width < plain[x, ()].width - 1e-3
    assert better >= 8


def test_everyone_logged_gives_the_bounds_of_balke_and_pearl() -> None:
    """A limit of 1 says that nobody was left out: r is one."""
    for model in models(BY_ARM, 5, default_rng(4)):
        logged = model.log()
        low, high = solve_balke_pearl(logged.condition_on("Z").align(("Y", "X", "Z")))
        if not is_instrumental(logged.condition_on("Z").align(("Y", "X", "Z"))):
            continue
        table = derive_bounds(
            parse(BY_ARM), "Y | do(X)", as_log(logged), confidence=None, selection_limit=1
        )
        for x in (0, 1):
            assert table[x, ()].lower == pytest.approx(low[x], abs=1e-5)
            assert table[x, ()].upper == pytest.approx(high[x], abs=1e-5)


def test_counted_rows_cover_the_truth_with_a_confidence() -> None:
    """12 logs of 2,000 draws: at .95, three misses would be a surprise."""
    rng, missed = default_rng(6), 0
    for model in models(BY_ARM, 12, rng):
        drawn = model.sample(2_000, rng)
        sample = {name: column[drawn["S"] == 1] for name, column in drawn.items()}
        table = derive_bounds(
            parse(BY_ARM), "Y | do(X)", read_log(sample), selection_rate=model.selection_rate()
        )
        missed += any(
            not table[x, ()].lower <= truth(model, (x,)) <= table[x, ()].upper for x in (0, 1)
        )
    assert missed < 3


def test_what_a_time_limit_leaves_holds_and_says_so() -> None:
    (model,) = models(BY_ARM, 1, default_rng(7))
    table = derive_bounds(
        parse(BY_ARM),
        "Y | do(X)",
        as_log(model.log()),
        confidence=None,
        selection_rate=model.selection_rate(),
        time_limit=1e-9,
    )
    for x in (0, 1):
        assert table[x, ()].lower <= truth(model, (x,)) <= table[x, ()].upper
    assert not any("wrong" in caveat for caveat in table.caveats)


def test_too_many_types_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reweighted_types, "MOST_COLUMNS", 3)
    (model,) = models(BY_ARM, 1, default_rng(8))
    table = derive_bounds(
        parse(BY_ARM), "Y | do(X)", as_log(model.log()), confidence=None, selection_rate=0.1
    )
    assert LEFT_OUT in table.caveats
    assert str(UNFINISHED) not in table.caveats


def test_an_instrument_limits_selection_even_where_nothing_is_known() -> None:
    """The population must be a law of the graph, and that alone bounds the weight of an arm."""
    narrower = 0
    for model in models(BY_ARM, 10, default_rng(9)):
        table = derive_bounds(parse(BY_ARM), "Y | do(X)", as_log(model.log()), confidence=None)
        lowest, highest = swept(model, 0.0)
        for x in (0, 1):
            bound = table[x, ()]
            assert bound.lower - 1e-9 <= truth(model, (x,)) <= bound.upper + 1e-9
            assert bound.lower <= lowest[x] + 1e-6
            assert bound.upper >= highest[x] - 1e-6
            narrower += bound.width < 1 - 1e-3
    assert narrower > 0

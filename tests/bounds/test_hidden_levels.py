"""A variable that selection depends on, with one value in the log: the others are hidden."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import boundit as bd
from boundit.core.interval import Interval
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import NamedArray
from boundit.results.bound_table import BoundTable
from tests.bounds.exact import Asked, questions

MAIL = "Email -> Opened -> Purchase; Opened -> [Kept]"
TRUTH = {0: 0.095, 1: 0.275, 2: 0.275}
"""What emails earn: half of those who open one buy, and one in twenty of the others."""
WHOLE = Interval(0, 1)


def openers(n: int = 30_000) -> dict[str, np.ndarray]:
    """A log of those who opened their mail, and of nobody else."""
    rng = np.random.default_rng(0)
    email = rng.integers(0, 3, n)
    opened = rng.random(n) < np.array([0.1, 0.5, 0.5])[email]
    purchase = rng.random(n) < np.where(opened, 0.5, 0.05)
    kept = {"Email": email, "Opened": opened, "Purchase": purchase}
    return {name: column[opened].astype(int) for name, column in kept.items()}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"confidence": None},
        {"inference": "approximate"},
        {"selection_rate": 0.37},
        {"domain": {"Opened": [0, 1]}},
        {"domain": {"Opened": [0, 1]}, "selection_rate": 0.36},
        {"domain": {"Opened": [0, 1]}, "confidence": None},
    ],
)
def test_a_log_of_openers_alone_misses_no_mean_and_no_difference(
    options: dict[str, Any],
) -> None:
    table = bd.derive_bounds(MAIL, "Purchase | do(Email)", openers(), **options)
    for arm, mean in TRUTH.items():
        assert mean in table[arm, ()]
        assert all(table.effect(arm, other)[()].upper >= mean - TRUTH[other] for other in TRUTH)
    assert not table.ruled_out()


def test_the_caveat_is_critical_first_and_shown_by_default() -> None:
    table = bd.derive_bounds(MAIL, "Purchase | do(Email)", openers())
    first = table.caveats[0]
    assert first.startswith(
        "critical: Opened affects selection and has one value in the data (1)"
    )
    assert "domain={'Opened': [...]}" in first
    for shown in (str(table), table.summary(), str(table.explain(0))):
        assert first.removeprefix("critical: ") in " ".join(shown.split())
    assert "Opened affects selection" in table._repr_html_()


def test_a_policy_pools_no_rows_by_what_selection_left_one_value_of() -> None:
    table = bd.derive_bounds(MAIL, "Purchase | do(Email)", openers())
    assert "Opened" not in getattr(table.pooling, "variables", ())
    told = bd.derive_bounds(MAIL, "Purchase | do(Email)", openers(), domain={"Opened": [0, 1]})
    assert "Opened" in getattr(told.pooling, "variables", ())


@pytest.mark.parametrize(("values", "narrow"), [([0, 1], False), ([1], True)])
def test_an_unselected_table_shows_which_values_there_are(
    values: list[int], narrow: bool
) -> None:
    survey = {"Opened": values * 500}
    table = bd.derive_bounds(MAIL, "Purchase | do(Email)", openers(), external=[survey])
    assert not table.critical
    assert (table[0, ()].width < 0.1) == narrow


@pytest.mark.parametrize(
    ("graph", "query", "single"),
    [
        ("X -> Y -> [S]", "Y | do(X)", "Y"),
        ("X -> Y; X <-> Y; X -> [S]", "Y | do(X)", "X"),
        ("C -> Y; X -> Y; C -> X; C -> [S]", "Y | do(X)", "C"),
        ("C -> Y; X -> Y; C -> X; C -> [S]", "Y | do(X), C", "C"),
        ("X -> Y -> M -> [S]", "Y | do(X)", "Y"),
    ],
)
def test_arms_contexts_and_rewards_may_be_hidden_too(
    graph: str, query: str, single: str
) -> None:
    rng = np.random.default_rng(1)
    names = sorted({*"XYCM"}.intersection(graph))
    rows = {name: rng.integers(0, 2, 400) for name in names} | {single: np.ones(400, int)}
    table = bd.derive_bounds(graph, query, rows)
    assert {bound.interval for bound in table.bounds.values()} == {WHOLE}
    assert table.critical[0].startswith(
        f"critical: {single} affects selection and has one value"
    )


def test_what_goes_with_a_hidden_cause_of_selection_is_hidden_with_it() -> None:
    """Click = 0 whoever does not open: of openers alone every row has a click."""
    graph = "Email -> Opened -> Click -> Purchase; Opened -> [Kept]"
    rows = openers()
    rows |= {"Click": rows["Opened"]}
    for columns in (rows, {name: rows[name] for name in ("Email", "Click", "Purchase")}):
        hidden = graph if "Opened" in columns else f"{graph}; hidden Opened"
        table = bd.derive_bounds(hidden, "Purchase | do(Email)", columns)
        assert all(TRUTH[arm] in table[arm, ()] for arm in TRUTH)
        assert table.critical


def test_a_variable_that_selection_says_nothing_of_may_have_one_value() -> None:
    rows = openers() | {"Site": np.ones(len(openers()["Email"]), int)}
    graph = "Email -> Purchase <- Site; Email -> [Kept]"
    table = bd.derive_bounds(graph, "Purchase | do(Email)", rows)
    assert not table.critical
    assert table[1, ()].width < 0.1


def test_other_graphs_of_a_stress_test_are_told_what_they_hide() -> None:
    """Only the graph that is added says that openers alone were kept."""
    graph = "Email -> Opened -> Purchase; Email -> [Kept]"
    united = bd.derive_bounds(
        {"as drawn": graph, "openers": MAIL}, "Purchase | do(Email)", openers()
    )
    assert all(TRUTH[arm] in united[arm, ()] for arm in TRUTH)
    assert united.caveats[0].startswith("critical: ")


def test_what_the_log_did_is_unknown_where_arms_were_filtered_out() -> None:
    """X = 0 was never logged: that the log did as well as X = 1 does not follow."""
    rng = np.random.default_rng(2)
    rows = {"X": np.ones(2_000, int), "Y": (rng.random(2_000) < 0.9).astype(int)}
    graph = "X -> Y; X -> [S]"
    table = bd.derive_bounds(graph, "Y | do(X)", rows)
    found = bd.compare(table, 1, bd.LOGGED, graph=graph, log=rows)
    assert 0.5 * (0.9 - 0.1) in found.interval


def keep_one_value(
    asked: Asked, rng: np.random.Generator
) -> tuple[str, NamedArray, float] | None:
    """Let selection leave one value of one of its observed causes; what is logged then."""
    graph, law = asked.model.graph, asked.model.log()
    causes = sorted(graph.parents(str(graph.selection)) & graph.observed)
    if not causes:
        return None
    name = str(rng.choice(causes))
    levels = law.values.shape[law.axes.index(name)]
    kept = np.take(np.eye(levels), rng.integers(levels), axis=0)
    shape = [levels if axis == name else 1 for axis in law.axes]
    left = law.values * kept.reshape(shape)
    if left.sum() <= 0:
        return None
    return name, NamedArray(law.axes, left / left.sum()), float(left.sum())


def as_seen(law: NamedArray, reward: str, worth: Sequence[float]) -> Log:
    """An exact law as a log that has a row for what happens, and no other."""
    seen = [(*place, share) for place, share in np.ndenumerate(law.values) if share > 0]
    columns = dict(zip((*law.axes, "share"), map(list, zip(*seen, strict=True)), strict=True))
    columns[reward] = [worth[int(level)] for level in columns[reward]]
    return read_log(columns, weight="share", exact=True)


def find_misses(asked: Asked, table: BoundTable) -> Iterator[str]:
    """List the means and the differences that a table misses."""
    query, truth = asked.query, asked.truth()
    names = query.treatments + query.context

    def mean(arm: tuple[Any, ...], context: tuple[Any, ...]) -> float:
        return float(truth[(*arm, *context)])

    for context in table.contexts:
        for arm in table.arms:
            interval = table[arm, context]
            slack = 1e-9
            if not interval.lower - slack <= mean(arm, context) <= interval.upper + slack:
                yield f"{names} {arm} {context}: {mean(arm, context)} not in {interval}"
        for one, other in permutations(table.arms, 2):
            gap = mean(one, context) - mean(other, context)
            if gap > table.find_largest_difference(one, other, context) + 1e-9:
                yield f"{names} {one} - {other} {context}: {gap}"


@pytest.mark.full
@pytest.mark.parametrize("worth", [2, 3])
def test_no_exact_interval_or_difference_misses_what_selection_hides(worth: int) -> None:
    """Random models, of which selection leaves one value of one of its causes."""
    rng, tried, misses = np.random.default_rng(7), 0, list[str]()
    for asked in questions(60, 11 + worth, worth=worth, selection=True):
        kept = keep_one_value(asked, rng)
        if kept is None:
            continue
        name, law, share = kept
        (outcome,) = asked.query.outcomes
        values: Mapping[str, Sequence[float]] = {outcome: asked.worth}
        log = as_seen(law, outcome, asked.worth)
        rate = asked.model.selection_rate() * share
        every = values.get(name, range(asked.model.n_levels[name]))
        for domain in ({}, {name: every}):
            for rates in (None, rate):
                table = bd.derive_bounds(
                    asked.model.graph,
                    asked.query,
                    log,
                    confidence=None,
                    domain=domain,
                    selection_rate=rates,
                    outcome_range=(0, 1),
                )
                misses += find_misses(asked, table)
                tried += 1
    assert tried > 100
    assert not misses

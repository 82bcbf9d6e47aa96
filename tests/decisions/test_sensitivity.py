"""Curves over a limit and breakdown points: against closed forms and a fine grid."""

import json
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.selection_facts import FactsRefuted
from boundit.core.errors import BounditError
from boundit.counts.log import Log
from boundit.decisions import sensitivity as module
from boundit.decisions.sensitivity import PRECISION, Conclusion, InvalidConclusion, sensitivity
from boundit.graph.text import parse
from boundit.results.bound_table import BoundTable

BOW = parse("X -> Y; X <-> Y")


def make_law(shares: Sequence[float], means: Sequence[float]) -> Log:
    """The exact distribution of arms 0, 1, ... with these shares and mean outcomes."""
    cells = [
        (arm, y, e * (q if y else 1 - q))
        for arm, (e, q) in enumerate(zip(shares, means, strict=True))
        for y in (0, 1)
    ]
    columns = zip(*cells, strict=True)
    return bd.read_log(
        dict(zip("XYp", map(list, columns), strict=True)), weight="p", exact=True
    )


LAW = make_law([0.6, 0.4], [0.3, 0.6])


def vary(log: object = LAW, **options: Any) -> module.Sensitivity:
    given = {"limit": "X <-> Y", "values": (), "confidence": None} | options
    return sensitivity(BOW, "Y | do(X)", log, **given)


def find_lower(e: float, q: float, limit: float) -> float:
    """The closed form of Dorn and Guo for a 0/1 outcome, by ``1 - Y``."""
    fail = 1 - q
    return 1 - min(fail * (e + (1 - e) * limit), 1 - q * (e + (1 - e) / limit))


def find_upper(e: float, q: float, limit: float) -> float:
    return 1 - find_lower(e, 1 - q, limit)


def test_the_breakdown_point_is_that_of_the_closed_form_on_a_fine_grid() -> None:
    limits = np.linspace(1, 4, 30_001)
    leads = np.array([find_lower(0.4, 0.6, g) - find_upper(0.6, 0.3, g) for g in limits])
    wanted = limits[leads > 0].max()

    analysis = vary(limit="Y <-> X", arm=1)
    found = analysis.breakdown

    assert found is not None
    assert found.point is not None
    assert found.fails_at is not None
    assert found.point <= wanted + 1e-3
    assert wanted - 1e-3 <= found.fails_at <= found.point * (1 + PRECISION)
    assert analysis.limit_on == "X <-> Y"
    assert not analysis
    numbers = [point.number for point in found.curve]
    assert numbers == sorted(numbers, reverse=True)
    for point in found.curve:
        lead = find_lower(0.4, 0.6, point.limit) - find_upper(0.6, 0.3, point.limit)
        assert point.number == pytest.approx(lead, abs=1e-9)


def test_conclusions_that_always_or_never_hold_are_told_apart() -> None:
    always, never = vary(arm=1, at_least=0.2), vary(arm=0)
    beyond = vary(arm=1, max_limit=1.2)
    points = [
        (f.breakdown.point, f.breakdown.fails_at)
        for f in (always, never, beyond)
        if f.breakdown is not None
    ]

    assert points == [(inf, None), (None, 1.0), (1.2, None)]
    assert "The mean of X=1 is at least 0.2: proved without any limit on X <-> Y." in str(
        always
    )
    assert "Not proved, even at a limit of 1 on X <-> Y: X=0 is the best arm." in str(never)
    assert "the largest that was tried" in str(beyond)
    assert always
    assert beyond
    assert not never


def test_the_goal_turns_conclusions() -> None:
    fewer = vary(arm=0, goal="min").breakdown
    more = vary(arm=1).breakdown
    assert fewer is not None
    assert more is not None
    assert fewer.point == pytest.approx(more.point)
    most = vary(arm=0, at_least=0.5, goal="min", values=[2.0])
    assert most.breakdown is not None
    assert "the mean of X=0 is at most 0.5" in most.breakdown.conclusion
    at = {point.limit: point.number for point in most.breakdown.curve}
    assert at[2.0] == pytest.approx(find_upper(0.6, 0.3, 2.0))


def test_finite_logs_and_both_inferences_fail_no_later_than_the_distribution() -> None:
    rng = np.random.default_rng(0)
    x = (rng.random(5_000) < 0.4).astype(int)
    y = (rng.random(5_000) < np.where(x, 0.6, 0.3)).astype(int)
    log = {"X": x.tolist(), "Y": y.tolist()}
    exact = vary(arm=1, baseline=0).breakdown
    for inference in ("exact", "approximate"):
        found = vary(log, arm=1, baseline=0, inference=inference, confidence=0.95)
        assert found.breakdown is not None
        assert exact is not None
        assert 1 < (found.breakdown.point or 0) < (exact.point or 0) * 1.05


def test_selection_has_a_limit_too() -> None:
    graph = parse("X -> Y; X -> [S]; Y -> [S]")
    found = sensitivity(
        graph, "Y | do(X)", LAW, limit="selection", arm=1, max_regret=0.1, confidence=None
    )
    assert found.breakdown is not None
    assert 1 <= (found.breakdown.point or 0) < 10
    assert list(found.limits) == list(module.VALUES)
    widths = [table[1, ()].width for table in found.tables]
    assert widths == sorted(widths)


def test_each_limit_has_its_table_and_those_that_the_data_contradict_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def derive(request: Any, _: object) -> BoundTable:
        limit = request.facts.limit
        if limit < 2:
            raise FactsRefuted("too narrow")
        row = {"X": 0, "lower": 0.2, "upper": 0.7}
        return BoundTable.from_rows([row], outcome="Y", treatments=["X"], outcome_range=(0, 1))

    monkeypatch.setattr(module, "derive_table", derive)
    graph = parse("X -> Y; X -> [S]; Y -> [S]")
    found = sensitivity(
        graph, "Y | do(X)", LAW, limit="selection", values=[4, 1, 2.5, 2.5], confidence=None
    )
    assert (found.limits, found.refuted) == ((2.5, 4.0), (1.0,))
    assert list(found.rows()[0])[:4] == ["limit", "X", "lower", "upper"]
    assert "The data contradict the limits 1." in found.summary()


def test_a_limit_of_no_use_is_said_to_be_none() -> None:
    graph = parse("X -> Y; X <-> Y; C <-> X; C <-> Y")
    law = {"X": [0, 1] * 4, "Y": [0, 1, 1, 0] * 2, "C": [0] * 4 + [1] * 4}
    found = sensitivity(graph, "Y | do(X), C", law, limit="X <-> Y", values=[2])

    assert found.caveats[0].kind == "critical"
    assert "A limit on X <-> Y does not narrow these bounds: " in found.caveats[0]


def test_it_is_written_for_people_and_programs() -> None:
    found = vary(arm=1, values=[1, 2])
    record = json.loads(json.dumps(found.record()))
    assert record["breakdown"]["conclusion"] == "X=1 is the best arm"
    assert record["rows"][0]["limit"] == 1
    assert repr(found).startswith("<Sensitivity to X <-> Y: limits 1, 2, breakdown point 1.98")
    assert f'<p class="verdict">{found.sentences[0]}'.replace("<->", "&lt;-&gt;") in (
        found.page().write()
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limit": "X <-> Z"}, "limits X <-> Z, an edge that the graph lacks"),
        ({"limit": 3}, "is not an edge"),
        ({"limit": "selection"}, "no selection node"),
        ({"max_limit": 1}, "max_limit=1 is not a number above 1"),
        ({"baseline": 1}, "is about an arm"),
        ({"arm": 7}, "7"),
        ({"arm": 1, "baseline": 1}, "Name two different ones"),
        ({"arm": 1, "at_least": 0.1, "max_regret": 0.1}, "different conclusions"),
        ({"arm": 1, "at_least": float("nan")}, "Write a finite one"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(BounditError, match=said):
        vary(**options)


TABLE = BoundTable.from_rows(
    [
        {"X": "a", "C": 0, "lower": 0.5, "upper": 0.7},
        {"X": "b", "C": 0, "lower": 0.2, "upper": 0.4},
        {"X": "c", "C": 0, "lower": 0.1, "upper": 0.6},
    ],
    outcome="Y",
    treatments=["X"],
    context=["C"],
    outcome_range=(0, 1),
)


@pytest.mark.parametrize(
    ("asked", "number", "said"),
    [
        (("a", 0, "b", None, None), 0.1, "a is better than b for C=0"),
        (("a", 0, "b", 0.1, None), 0.1, "a is better than b by at least 0.1 for C=0"),
        (("a", 0, "b", -0.1, None), 0.1, "a is better than b, or worse by at most 0.1 for C=0"),
        (("a", (0,), None, None, None), -0.1, "a is the best arm for C=0"),
        (("a", 0, None, 0.3, None), 0.5, "the mean of a is at least 0.3 for C=0"),
        (("b", 0, None, None, 0.1), -0.5, "the maximum regret of b is at most 0.1 for C=0"),
    ],
)
def test_each_conclusion_measures_what_is_certain(
    asked: tuple[Any, ...], number: float, said: str
) -> None:
    found = Conclusion.read(TABLE, *asked)
    assert found.measure(TABLE) == pytest.approx(number)
    assert str(found) == said


def test_conclusions_are_proved_by_numbers_large_enough() -> None:
    better = Conclusion.read(TABLE, "a", 0, "b", None, None)
    by = Conclusion.read(TABLE, "a", 0, "b", 0.1, None)
    mean = Conclusion.read(TABLE, "a", 0, None, 0.3, None)
    regret = Conclusion.read(TABLE, "a", 0, None, None, 0.3)
    assert better.is_proved(0.1)
    assert not better.is_proved(0.0)
    assert not better.is_proved(1e-16)
    assert by.is_proved(0.1)
    assert not by.is_proved(0.09)
    assert mean.is_proved(0.3)
    assert regret.is_proved(-0.3)
    assert not regret.is_proved(-0.31)
    with pytest.raises(InvalidConclusion, match="Name one of 0"):
        Conclusion.read(TABLE, "a", None, None, None, None)

from collections.abc import Mapping

import numpy as np
import pytest

from boundit.checks.contradictions import (
    LEVEL,
    MOST_WORK,
    find_contradictions,
    note_contradictions,
)
from boundit.core.long_work import TimeBudget
from boundit.counts.log import read_log
from boundit.counts.table import CountTable
from boundit.graph.read import parse_graph
from boundit_research.audits.check_power import measure_check_power

EACH = parse_graph("Age -> T; Age -> Y; Income -> T; Income -> Y; Sex -> T; Sex -> Y; T -> Y")


def draw_rows(n: int, seed: int = 0, *, related: bool = True) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    common = rng.random(n)
    age = rng.random(n) < common
    income = rng.random(n) < (common if related else rng.random(n))
    sex = rng.random(n) < 0.4
    t = rng.random(n) < 0.2 + 0.3 * age + 0.3 * income
    y = rng.random(n) < 0.1 + 0.3 * t + 0.2 * age + 0.2 * sex
    columns = {"Age": age, "Income": income, "Sex": sex, "T": t, "Y": y}
    return {name: column.astype(int).tolist() for name, column in columns.items()}


def count(rows: Mapping[str, object], **options: object) -> CountTable:
    log = read_log(rows, **options)  # type: ignore[arg-type]
    return log.count(("Age", "Income", "Sex", "T"), reward="Y")


def test_the_pair_that_goes_together_is_named_with_what_to_write() -> None:
    (note,) = note_contradictions(EACH, count(draw_rows(2000)), ungrouped=frozenset("TY"))

    assert "Age and Income are dependent (Cramér's V 0.3" in str(note)
    assert "write 'Related = {Age, Income}'" in str(note)
    assert "Sex" not in str(note)


def test_a_group_that_is_there_grows_and_a_name_that_is_taken_is_not_given() -> None:
    table = count(draw_rows(2000))
    grouped = parse_graph("Z = {Age, Sex}; Z -> T; Z -> Y; Income -> T; Income -> Y; T -> Y")
    (note,) = note_contradictions(grouped, table, ungrouped=frozenset("TY"))
    assert "write 'Z = {Age, Income, Sex}'" in str(note)

    taken = parse_graph("Age; Income; Sex; Related; T -> Y")
    (note,) = note_contradictions(taken, table, ungrouped=frozenset("TY"))
    assert "write 'Related2 = {Age, Income}'" in str(note)


def test_a_right_graph_gets_no_caveat() -> None:
    assert not list(note_contradictions(EACH, count(draw_rows(2000, related=False))))


def test_false_alarms_are_rarer_than_one_in_a_hundred() -> None:
    """The level is 0.001: of 400 logs of right graphs, one alarm has a chance of a third."""
    (point,) = measure_check_power(400, sizes=[1000], by_counts=True)

    assert point.false_alarms <= 3 / 400
    assert point.finds > 0.4
    assert LEVEL == 0.001


def test_a_reward_of_two_values_is_tested_too() -> None:
    chain = parse_graph("Age -> T -> Y; Income -> T; Sex -> T; Age <-> Income")
    table = count(draw_rows(4000))

    assert not find_contradictions(chain, table)
    found = find_contradictions(chain, table, binary_reward=True)
    assert {frozenset((said.one, said.other)) for said, _, _ in found} >= {
        frozenset(("Sex", "Y"))
    }
    (note,) = note_contradictions(chain, table, binary_reward=True, ungrouped=frozenset("TY"))
    assert "Add 'Sex -> Y' or 'Sex <-> Y'." in str(note)


def test_an_arrow_that_would_close_a_cycle_is_not_offered() -> None:
    down = parse_graph("Age -> Sex -> Income; T")
    rows = draw_rows(4000) | {"T": [0] * 4000}
    (note,) = note_contradictions(down, count(rows))
    assert "Add 'Age -> Income' or 'Age <-> Income'." in str(note)


def test_rows_that_are_not_alike_and_independent_are_left_alone() -> None:
    """An exact law, a learning policy's log, clusters and dropped rows need other tests."""
    rows = draw_rows(2000)
    cells = count(rows)
    law = {
        name: [cells.levels[name][code] for code in cells.codes[:, i]]
        for i, name in enumerate(cells.variables)
    }
    exact = read_log(law | {"p": (cells.n / cells.rows).tolist()}, weight="p", exact=True)
    holed = rows | {"Sex": [None, *rows["Sex"][1:]]}
    by_user = read_log(rows | {"id": [i // 2 for i in range(2000)]})
    tables = [
        exact.count(("Age", "Income", "Sex", "T")),
        count(rows, adaptive=True),
        count(holed),
        by_user.count(("Age", "Income", "Sex", "T"), cluster="id"),
    ]

    for table in tables:
        assert not list(note_contradictions(EACH, table))


def test_no_time_and_no_room_mean_no_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    table = count(draw_rows(2000))

    assert not find_contradictions(EACH, table, TimeBudget(0.0))
    monkeypatch.setattr("boundit.checks.contradictions.MOST_WORK", len(table.n) - 1)
    assert not find_contradictions(EACH, table)
    assert MOST_WORK > 10**6


def test_many_pairs_are_counted_and_three_are_shown() -> None:
    rng = np.random.default_rng(3)
    common = rng.random(2000)
    names = [f"X{i}" for i in range(5)]
    rows = {name: (rng.random(2000) < common).astype(int).tolist() for name in names}
    graph = parse_graph("; ".join(f"{name} -> Y" for name in names))
    (note,) = note_contradictions(graph, read_log(rows).count(names))

    assert str(note).count("are dependent") == 3
    assert "and 7 more pairs" in str(note)
    assert "Related = {X0, X1, X2, X3, X4}" in str(note)

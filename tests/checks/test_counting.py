from math import prod

import numpy as np
import pytest

from boundit.checks import counting
from boundit.checks.counting import count_statements, find_columns
from boundit.core.errors import DataError
from boundit.core.long_work import TimeBudget
from boundit.counts.log import Log, read_log
from boundit.counts.sources import estimate_memory
from boundit.counts.table import CountTable
from boundit.graph.implications import Independence


def make_statement(one: str, other: str, given: str = "") -> Independence:
    return Independence(one, other, frozenset(given), selected=False)


LOTS = 10**12
THREE = [make_statement("A", "B"), make_statement("B", "C", "D"), make_statement("C", "E", "A")]


def make_log(**options: object) -> Log:
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 3, 60).tolist() for name in "ABCDE"}
    return read_log({**columns, "S": [1] * 60}, **options)  # type: ignore[arg-type]


def test_a_log_that_fits_is_counted_once() -> None:
    ((served, table),) = count_statements(make_log(), THREE, "S", memory=LOTS)

    assert {*served} == {*THREE}
    assert isinstance(table, CountTable)
    assert table.variables == ("A", "B", "C", "D", "E")


def test_a_longer_log_is_counted_in_few_passes_with_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ((_, whole),) = count_statements(make_log(), THREE, None, memory=LOTS)
    monkeypatch.setattr(counting, "ONE_PASS", 0)
    monkeypatch.setattr(counting, "SMALL", 100)
    parts = list(count_statements(make_log(), THREE, None, memory=LOTS))

    assert sorted(str(s) for served, _ in parts for s in served) == sorted(map(str, THREE))
    assert len(parts) == 2
    assert isinstance(whole, CountTable)
    for served, table in parts:
        assert isinstance(table, CountTable)
        for each in served:
            names = find_columns(each)
            assert (table.marginalize(names).values == whole.marginalize(names).values).all()


@pytest.mark.parametrize("seed", range(20))
def test_every_independence_is_served_by_a_table_that_stays_small(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "ONE_PASS", 0)
    monkeypatch.setattr(counting, "SMALL", 200)
    rng = np.random.default_rng(seed)
    sizes = {name: int(rng.integers(2, 9)) for name in "ABCDEFGH"}
    columns = {name: rng.integers(0, size, 500).tolist() for name, size in sizes.items()}
    drawn = [rng.permutation(list(sizes))[: rng.integers(2, 5)] for _ in range(15)]
    statements = {make_statement(x[0], x[1], "".join(x[2:])) for x in drawn}
    found = list(count_statements(read_log(columns), [*statements], None, memory=LOTS))

    assert {each for served, _ in found for each in served} == statements
    for served, table in found:
        assert isinstance(table, CountTable)
        names = table.variables
        assert all(find_columns(each) <= {*names} for each in served)
        assert prod(sizes[n] for n in names) <= max(
            200, *(prod(sizes[n] for n in find_columns(each)) for each in served)
        )


def test_without_statements_nothing_is_read() -> None:
    assert list(count_statements(make_log(), [], None, memory=LOTS)) == []


def test_a_table_too_large_comes_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundit.counts.sources.CELL_LIMIT", 10)
    ((served, found),) = count_statements(make_log(), THREE, None, memory=LOTS)

    assert {*served} == {*THREE}
    assert "more than 10 distinct rows" in str(found)


def test_nulls_follow_the_rule_of_the_log() -> None:
    columns = {"A": [0, 1, None], "B": [0, None, 1]}
    ((_, dropped),) = count_statements(read_log(columns), THREE[:1], None, memory=LOTS)

    assert isinstance(dropped, CountTable)
    assert None in dropped.levels["A"]
    with pytest.raises(DataError):
        list(count_statements(read_log(columns, missing="error"), THREE[:1], None, memory=LOTS))


def test_a_selection_column_must_be_1_throughout() -> None:
    with pytest.raises(DataError):
        list(
            count_statements(
                read_log({"A": [0, 1], "B": [1, 0], "S": [1, 0]}), THREE[:1], "S", memory=LOTS
            )
        )


def test_little_memory_asks_the_log_more_often_for_the_same_numbers() -> None:
    ((_, whole),) = count_statements(make_log(), THREE, None, memory=LOTS)
    parts = list(count_statements(make_log(), THREE, None, memory=estimate_memory(60, 4)))

    assert isinstance(whole, CountTable)
    assert len(parts) > 1
    for served, table in parts:
        assert isinstance(table, CountTable)
        for each in served:
            names = find_columns(each)
            assert (table.marginalize(names).values == whole.marginalize(names).values).all()


def test_without_time_nothing_is_counted() -> None:
    found = count_statements(make_log(), THREE, None, memory=LOTS, time=TimeBudget(0.0))

    assert list(found) == []

from boundit.report.text.contexts import describe_common, name_contexts
from boundit.results.bound_table import BoundTable
from tests.report.examples import large_table, small_table


def test_of_forty_variables_only_those_that_differ_are_named() -> None:
    table = large_table(arms=1)

    assert name_contexts(table, table.contexts)[5].startswith("Column0=1, Column1=0, Column2=1")
    assert name_contexts(table, table.contexts)[5].count("=") == 6
    assert describe_common(table).count("=") == 34


def test_names_tell_contexts_apart() -> None:
    table = large_table(arms=1)

    assert len(set(name_contexts(table, table.contexts))) == 40


def test_a_single_context_is_named_whole() -> None:
    rows = [{"X": 0, "U": 1, "lower": 0.1, "upper": 0.2}]
    names = {"outcome": "Y", "treatments": ["X"], "outcome_range": (0, 1)}
    table = BoundTable.from_rows(rows, context=["U"], **names)  # type: ignore[arg-type]

    assert name_contexts(table, [(1,)]) == ["U=1"]
    assert describe_common(table) == ""


def test_without_context_it_is_everyone() -> None:
    rows = [{"X": 0, "lower": 0.1, "upper": 0.2}]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))

    assert name_contexts(table, [()]) == ["everyone"]
    assert describe_common(small_table()) == ""

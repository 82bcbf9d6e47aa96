import warnings

import pytest

import boundit as bd
from boundit.bounds.caveats import name_rules, note_refused
from boundit.core.errors import BounditWarning, OutOfTime
from boundit.counts.errors import TooLarge


def test_names_are_quoted_and_many_are_counted() -> None:
    assert name_rules(["a"]) == "'a'"
    assert name_rules("abcde") == "'a', 'b', 'c' and 2 more"


def test_the_first_large_rules_are_explained_and_the_others_named() -> None:
    large = {name: TooLarge("XZ", 10**9, 10**6, option="memory_limit") for name in "abcde"}
    said = [str(note) for note in note_refused({**large, "f": MemoryError(), "g": OutOfTime()})]

    assert said[0] == (
        "skipped: the rule 'a': A dense table over X, Z has 1,000,000,000 cells, "
        "memory_limit allows 1,000,000. Ask for fewer variables or levels, or raise it."
    )
    assert len(said) == 5
    assert said[3] == "skipped: 'd', 'e', 'f': memory_limit is too low"
    assert said[4] == (
        "skipped: 'g', because time_limit was reached. The intervals are valid, but may be wider "
        "than necessary. Raise time_limit."
    )
    assert list(note_refused({})) == []


LOG = {"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1]}


def test_a_critical_caveat_warns_at_the_line_that_asks() -> None:
    with pytest.warns(BounditWarning, match=r"no directed path from X to Y") as caught:
        table = bd.derive_bounds("Y -> X", "Y | do(X)", LOG)
    assert [each.filename for each in caught] == [__file__]
    assert [c.code for c in table.caveats if c.kind == "critical"] == ["no-causal-path"]


def test_a_log_that_contradicts_the_graph_warns_when_caveats_are_read() -> None:
    same = {"A": [0, 1] * 100, "X": [0, 1] * 100, "Y": [0, 0, 1, 1] * 50}
    with warnings.catch_warnings():
        warnings.simplefilter("error", BounditWarning)
        table = bd.derive_bounds("A -> Y; X -> Y", "Y | do(X), A", same)
    with pytest.warns(BounditWarning, match="The data contradict the graph") as caught:
        assert table.caveats[0].kind == "critical"
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", BounditWarning)
        assert table.caveats


def test_an_answer_without_critical_caveats_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", BounditWarning)
        assert bd.derive_bounds("X -> Y", "Y | do(X)", LOG).caveats == ()

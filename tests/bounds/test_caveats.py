from boundit.bounds.caveats import name_rules, note_refused
from boundit.core.errors import OutOfTime
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

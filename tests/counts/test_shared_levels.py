"""External tables meet the log on the same levels, and slips are asked about."""

import pytest

from boundit.counts.errors import LevelsClash
from boundit.counts.read import read_log
from boundit.counts.shared_levels import share_levels
from boundit.counts.table import CountTable


def counted(**columns: list[object]) -> CountTable:
    return read_log(columns).count(list(columns))


def test_all_tables_get_the_levels_of_all_and_those_declared() -> None:
    log, survey = counted(X=["a", "b"], Z=[0, 1]), counted(X=["c"])
    one, other = share_levels(log, [survey], {"X": ["d"], "Q": [1]})

    assert one.levels == {"X": ("a", "b", "c", "d"), "Z": (0, 1)}
    assert other.levels == {"X": ("a", "b", "c", "d")}
    assert one.marginalize("X").values.tolist() == [1, 1, 0, 0]
    assert other.marginalize("X").values.tolist() == [0, 0, 1, 0]


def test_a_level_that_only_an_external_table_has_is_a_caveat_of_that_table() -> None:
    log = counted(Age=["young", "old"], Z=[0, 1])
    surveys = [counted(Age=["young", "old"]), counted(Age=["yuong"], Z=[2])]
    first, fine, slip = share_levels(log, surveys)

    assert first.caveats == fine.caveats == ()
    assert slip.caveats == (
        "Age is never 'yuong' in the log, only in the dict of columns: a slip for 'young'? "
        "If it is right, declare it with domain=",
        "Z is never 2 in the log, only in the dict of columns: if that is right, declare it "
        "with domain=",
    )


def test_what_is_declared_is_no_slip_and_what_the_log_lacks_is_no_matter() -> None:
    log, survey = counted(Age=["young", "old"]), counted(Age=["child", "old"], Town=["A", "B"])

    assert all(not table.caveats for table in share_levels(log, [survey], {"Age": ["child"]}))


def test_one_level_in_two_types_is_refused() -> None:
    with pytest.raises(LevelsClash):
        share_levels(counted(X=[0, 1]), [counted(X=["0", "1"])])

"""A limit is read from numbers and texts; without one the machine and its cgroups are asked."""

import os
from pathlib import Path

import numpy as np
import pytest

from boundit.core.errors import OptionError, OutOfTime
from boundit.core.long_work import TimeBudget
from boundit.counts import memory
from boundit.counts.errors import TooLarge
from boundit.counts.memory import (
    COPIES,
    LEAST,
    SHARE,
    Workspace,
    find_machine_memory,
    read_memory_limit,
    write_size,
)


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        (10**6, 10**6),
        (3e9, 3 * 10**9),
        (np.int64(10**7), 10**7),
        ("2 GB", 2 * 10**9),
        ("2gb", 2 * 10**9),
        (" 500 MB ", 500 * 10**6),
        ("0.5 GiB", 2**29),
        ("2 Ti", 2**41),
        ("4000000", 4 * 10**6),
        ("1500k", 1500 * 10**3),
    ],
)
def test_a_limit_is_bytes_or_text_with_a_unit(limit: object, size: int) -> None:
    assert read_memory_limit(limit) == size


@pytest.mark.parametrize(
    "limit",
    [
        0,
        -1,
        10**6 - 1,
        float("nan"),
        float("inf"),
        True,
        "lots",
        "2 XB",
        "-2 GB",
        "iB",
        "",
        [1],
    ],
)
def test_what_is_no_size_is_refused_by_the_name_of_its_option(limit: object) -> None:
    with pytest.raises(OptionError, match="memory_limit must be a number of bytes") as caught:
        read_memory_limit(limit)
    assert caught.value.option == "memory_limit"
    assert "\n" not in str(caught.value)


def test_no_limit_is_a_quarter_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "find_machine_memory", lambda: 8 * 2**30)
    assert read_memory_limit(None) == 8 * 2**30 // SHARE
    monkeypatch.setattr(memory, "find_machine_memory", lambda: 7)
    assert read_memory_limit(None) == LEAST


@pytest.mark.parametrize("size", [2**20, 10**9, 123_456_789, 7 * 10**12, 999])
def test_what_is_written_reads_as_about_as_much(size: int) -> None:
    text = write_size(size)

    assert text.endswith("B")
    if size >= LEAST:
        assert read_memory_limit(text) == pytest.approx(size, rel=0.05)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_machine_answers_where_no_group_does(tmp_path: Path) -> None:
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert find_machine_memory(tmp_path) == physical
    write(tmp_path / "proc/self/cgroup", "0::/\n")
    write(tmp_path / "sys/fs/cgroup/memory.max", "max\n")
    assert find_machine_memory(tmp_path) == physical


def test_the_tightest_group_of_version_two_decides(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/user/job\n")
    write(tmp_path / "sys/fs/cgroup/user/job/memory.max", "4000000\n")
    assert find_machine_memory(tmp_path) == 4_000_000
    write(tmp_path / "sys/fs/cgroup/user/memory.max", "3000000\n")
    assert find_machine_memory(tmp_path) == 3_000_000


def test_groups_of_version_one_are_read(tmp_path: Path) -> None:
    lines = "9:name=systemd:/\n4:cpu,memory:/docker/a:b\n1:cpu:/\nodd\n0::/\n"
    write(tmp_path / "proc/self/cgroup", lines)
    write(tmp_path / "sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n")
    assert find_machine_memory(tmp_path) == 5_000_000
    write(tmp_path / "sys/fs/cgroup/memory/docker/a:b/memory.limit_in_bytes", "2000000\n")
    assert find_machine_memory(tmp_path) == 2_000_000


def test_a_machine_that_does_not_tell_has_four_gigabytes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert find_machine_memory(tmp_path) == 2**32


def test_arrays_may_be_as_large_as_all_their_copies_fit() -> None:
    room = Workspace(8 * COPIES * 1000)

    room.require_cells(1000, "AB")
    with pytest.raises(TooLarge, match="over A, B has 1,001 cells, memory_limit allows 1,000"):
        room.require_cells(1001, "AB")


def test_time_that_is_over_is_refused_by_name() -> None:
    Workspace(1).require_time()
    with pytest.raises(OutOfTime, match="time_limit is over") as caught:
        Workspace(1, TimeBudget(0)).require_time()
    assert caught.value.option == "time_limit"


def test_without_limits_there_is_some_room() -> None:
    assert Workspace.make_default().most_cells > 2**15

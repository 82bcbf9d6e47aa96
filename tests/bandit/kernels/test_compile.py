import re
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching
from numpy.typing import NDArray

from boundit.bandit.kernels.compile import (
    _MARKS,
    compile_kernel,
    hash_kernel_sources,
    inline_kernel,
)
from boundit.bandit.kernels.ucb import decide_ucb


@inline_kernel
def add(total: float, number: float) -> float:
    return total + number


@compile_kernel
def add_up(numbers: NDArray[np.float64]) -> float:
    total = 0.0
    for number in numbers:
        total = add(total, number)
    return total


def test_sums_keep_their_order() -> None:
    """A compiler that may regroup would find another sum of these."""
    numbers = np.array([1e16, 1.0, -1e16, 1.0] * 8)

    expected = 0.0
    for number in numbers.tolist():
        expected += number
    assert add_up(numbers) == expected


def test_dividing_by_zero_gives_infinity() -> None:
    @compile_kernel
    def ratio(one: float, two: float) -> float:
        return one / two

    assert ratio(1.0, 0.0) == np.inf


def test_what_is_kept_is_fresh_only_while_every_kernel_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    kernel, other = tmp_path / "below" / "kernel.py", tmp_path / "plain.py"
    kernel.write_text("from boundit.bandit.kernels.compile import compile_kernel")
    other.write_text("import numpy")
    before = hash_kernel_sources(tmp_path)
    hash_kernel_sources.cache_clear()
    other.write_text("import scipy")
    same = hash_kernel_sources(tmp_path)
    hash_kernel_sources.cache_clear()
    kernel.write_text("from boundit.bandit.kernels.compile import inline_kernel ")

    assert before == same
    assert hash_kernel_sources(tmp_path) != before
    room = hash_kernel_sources(Path(compile_kernel.__code__.co_filename).parents[1])
    kept = decide_ucb._cache._cache_file._source_stamp  # type: ignore[attr-defined]
    assert kept == room
    kept = add_up._cache._cache_file._source_stamp  # type: ignore[attr-defined]
    assert kept == room + hash_kernel_sources(Path(__file__).parent)


def test_where_nothing_may_be_kept_kernels_are_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Installed files, cache and home may all be read-only; numba then finds no place."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    @inline_kernel
    def double(number: float) -> float:
        return 2 * number

    @compile_kernel
    def quadruple(number: float) -> float:
        return double(double(number))

    assert quadruple(3.0) == 12.0


def test_the_stamp_looks_at_every_file_that_imports_the_compiler() -> None:
    """A rename of the compiler's module must not leave the stamp blind."""
    room = Path(compile_kernel.__code__.co_filename).parents[1]
    kernels = {
        path
        for path in room.rglob("*.py")
        if re.search(
            rb"^@(compile_kernel|inline_kernel|njit|intrinsic)", path.read_bytes(), re.MULTILINE
        )
    }

    assert len(kernels) > 10
    for path in kernels:
        assert any(mark in path.read_bytes() for mark in _MARKS), path

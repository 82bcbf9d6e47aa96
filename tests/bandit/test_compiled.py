from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.compiled import compiled, inlined, kernels_stamp


@inlined
def step(total: float, number: float) -> float:
    return total + number


@compiled
def added(numbers: NDArray[np.float64]) -> float:
    total = 0.0
    for number in numbers:
        total = step(total, number)
    return total


def test_sums_keep_their_order() -> None:
    """A compiler that may regroup would find another sum of these."""
    numbers = np.array([1e16, 1.0, -1e16, 1.0] * 8)

    expected = 0.0
    for number in numbers.tolist():
        expected += number
    assert added(numbers) == expected


def test_dividing_by_zero_gives_infinity() -> None:
    @compiled
    def ratio(one: float, two: float) -> float:
        return one / two

    assert ratio(1.0, 0.0) == np.inf


def test_what_is_kept_is_fresh_only_while_every_kernel_is_as_it_was(tmp_path: Path) -> None:
    kernel, other = tmp_path / "kernel_a.py", tmp_path / "plain.py"
    kernel.write_text("from boundit.bandit.compiled import compiled")
    other.write_text("import numpy")
    before = kernels_stamp(tmp_path)
    kernels_stamp.cache_clear()
    other.write_text("import scipy")
    same = kernels_stamp(tmp_path)
    kernels_stamp.cache_clear()
    kernel.write_text("from boundit.bandit.compiled import inlined ")

    assert before == same
    assert kernels_stamp(tmp_path) != before
    kept = added._cache._cache_file._source_stamp  # type: ignore[attr-defined]
    assert kept == kernels_stamp(Path(compiled.__code__.co_filename).parent)

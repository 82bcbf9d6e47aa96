import copy

import numpy as np
import pytest

from boundit.bandit.context_reader import ContextReader
from boundit.bandit.errors import BadContext
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound_errors import OutsideDomain, WrongLength

SCENE = BanditSpec((("A",),), (("A",),), ("U", "V"), ((0, 1), ()))


@pytest.mark.parametrize("given", [(1, 0.5), [1, 0.5], {"V": 0.5, "U": 1, "W": 3}])
def test_it_reads_what_the_scene_reads_again_and_again(given: object) -> None:
    reader = ContextReader(SCENE)

    assert [reader.read(given) for _ in range(3)] == [(1, 0.5)] * 3
    assert reader.read((1, 0.5)) == (1, 0.5)
    assert reader.knows((1, 0.5))
    assert not reader.knows((0, 0.5))
    assert not reader.knows(([1], 0.5))
    assert not copy.deepcopy(reader).knows((1, 0.5))


def test_equal_values_keep_the_type_they_came_with() -> None:
    reader = ContextReader(SCENE)
    reader.read((1, 1))

    found = [reader.read(given) for given in ((True, 1.0), (np.int64(1), 1), (1, 1))]

    assert [list(map(type, values)) for values in found] == [
        [bool, float],
        [int, int],
        [int, int],
    ]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((7, 0), OutsideDomain),
        ((1,), WrongLength),
        ({"U": 1}, BadContext),
        ((1, float("nan")), BadContext),
        ((1, [2]), BadContext),
    ],
)
def test_what_the_scene_refuses_is_refused_each_time(
    given: object, error: type[Exception]
) -> None:
    reader = ContextReader(SCENE)
    for _ in range(2):
        with pytest.raises(error):
            reader.read(given)


def test_one_name_is_read_from_a_mapping_too() -> None:
    reader = ContextReader(BanditSpec((("A",),), (("A",),), ("U",), ((),)))

    assert reader.read({"U": 3}) == reader.read(3) == (3,)


def test_memory_is_bounded() -> None:
    reader = ContextReader(BanditSpec())
    for i in range(40_000):
        reader.read((i,))

    assert sum(reader.knows((i,)) for i in range(40_000)) <= 2**14

import numpy as np
import pytest

from boundit.bandit.errors import BadFeatures, ForeignBounds
from boundit.bandit.learned.features import FeatureEncoding, read_vector, require_length
from boundit.bandit.spec import BanditSpec

SPEC = BanditSpec(
    (("a", 1), ("c", 0)),
    (("c", "a", "b"), (0, 1)),
    ("Device", "Age", "New"),
    (("web", "app"), (), (False, True)),
)


def test_numbers_as_they_are_and_text_one_hot_without_the_first() -> None:
    """[1, context values, treatment values]; a domain of two texts is one number."""
    vector = FeatureEncoding.of(SPEC).encode(("web", 30, True), ("c", 0))

    assert vector.tolist() == [1.0, 1.0, 30.0, 1.0, 0.0, 1.0, 0.0]


def test_every_arm_and_context_has_the_same_length() -> None:
    encoding = FeatureEncoding.of(SPEC)

    sizes = {
        encoding.encode((device, 30, False), (ad, 1)).size
        for device in ("web", "app")
        for ad in "abc"
    }
    assert sizes == {7}


def test_without_names_numbers_are_enough() -> None:
    assert FeatureEncoding.of(BanditSpec()).encode((2, 3), (True,)).tolist() == [
        1.0,
        2.0,
        3.0,
        1.0,
    ]


@pytest.mark.parametrize(
    ("context", "arm", "line"),
    [
        (("tv", 30, True), ("a", 0), "the context has 'tv', and its domain has app, web"),
        (("web", "old", True), ("a", 0), "the context has 'old', which is no number"),
        (("web", 30, True), ("z", 0), "the arm has 'z', and its domain has a, b, c"),
        (("web", None, True), ("a", 0), "the context has None"),
    ],
)
def test_what_cannot_be_written_is_said(
    context: tuple[object, ...], arm: tuple[object, ...], line: str
) -> None:
    with pytest.raises(BadFeatures, match=line) as caught:
        FeatureEncoding.of(SPEC).encode(context, arm)
    assert str(caught.value).endswith("declare it, or give features=")


def test_a_number_beyond_all_floats_is_too_large() -> None:
    with pytest.raises(BadFeatures, match="are larger than"):
        FeatureEncoding.of(SPEC).encode(("web", 10**400, True), ("a", 0))


def test_own_features_take_over() -> None:
    own = FeatureEncoding.of(SPEC, lambda context, arm: [len(context), len(arm)])

    assert own.encode(("tv", None), ("z",)).tolist() == [2.0, 1.0]


@pytest.mark.parametrize("given", ["x", [], [[1.0]], [np.nan], [None, 1], 3.0, {"a": 1}])
def test_what_is_no_vector_is_refused(given: object) -> None:
    with pytest.raises(BadFeatures, match=r"the features of arm \('A',\) "):
        read_vector(given, ("A",))


def test_lengths_are_compared() -> None:
    require_length(np.ones(2), None, ("A",))
    require_length(np.ones(2), 2, ("A",))
    with pytest.raises(BadFeatures, match="are 2 numbers, and this policy learns 3"):
        require_length(np.ones(2), 3, ("A",))


@pytest.mark.parametrize("old", [("b", "d"), ("a", "c"), ("c",)])
def test_features_of_fewer_levels_map_into_those_of_more(old: tuple[str, ...]) -> None:
    """Whichever level had no feature of its own, before and after."""
    more = ("a", "b", "c", "d")
    narrow, wide = (
        FeatureEncoding.of(BanditSpec((), (levels,), ("U", "V"), (levels, ())))
        for levels in (old, more)
    )
    size = narrow.encode((old[0], 0), (old[0],)).size

    turn = narrow.map_into(wide, size)

    for level in old:
        for arm in old:
            short, long = (e.encode((level, 7), (arm,)) for e in (narrow, wide))
            assert (turn @ short).tolist() == long.tolist()


def test_numbers_do_not_turn_into_words() -> None:
    numbers = FeatureEncoding.of(BanditSpec((), ((1, 2),), ()))
    words = FeatureEncoding.of(BanditSpec((), ((1, 2, "x"),), ()))
    fewer = FeatureEncoding.of(BanditSpec((), (("y",),), ()))

    for encoding, wider, size in ((numbers, words, 2), (words, fewer, 1)):
        with pytest.raises(ForeignBounds, match="the bounds are for other levels"):
            encoding.map_into(wider, size)
    with pytest.raises(ForeignBounds, match="the bounds are for other features"):
        numbers.map_into(numbers, 3)
    with pytest.raises(ForeignBounds, match="the bounds are for other features"):
        numbers.map_into(numbers, 1)


def test_a_row_is_written_anew_where_levels_came_since() -> None:
    encoding = FeatureEncoding.of(BanditSpec((), (("a", "b", "c"),), ()))

    assert encoding.read_row([1.0, 1.0], (), ("c",), None).tolist() == [1.0, 0.0, 1.0]
    assert encoding.read_row([1.0, 0.5, 0.5], (), ("c",), 3).tolist() == [1.0, 0.5, 0.5]
    own = FeatureEncoding.of(BanditSpec((), (("a", "b", "c"),), ()), lambda *_: [1.0])
    assert own.read_row([1.0, 1.0], (), ("c",), None).tolist() == [1.0, 1.0]

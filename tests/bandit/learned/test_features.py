import numpy as np
import pytest

from boundit.bandit.errors import BadFeatures
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

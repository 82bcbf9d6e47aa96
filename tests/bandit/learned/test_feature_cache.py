import copy

import pytest

from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.score_table import LIN_UCB_VERSION, STATISTICS, UPPER
from boundit.bandit.learned.feature_cache import FeatureCache
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned.ridge import RidgeStack
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.spec import BanditSpec

SPEC = BanditSpec((("a", 1), ("c", 0)), (("c", "a", "b"), (0, 1)), ("Device", "Age"), ((), ()))
RANKED = RankedArms.of([RankedArm(("a", 1), 0, 1, 0), RankedArm(("c", 0), 0, 1, 1)])


def test_rows_are_those_of_the_encoding_in_the_order_of_the_arms() -> None:
    encoding = FeatureEncoding.of(SPEC)
    backwards = RankedArms(reversed(RANKED))
    for ranked_arms in (RANKED, backwards):
        features = FeatureCache(encoding).encode((3, 0.5), ranked_arms)
        for i, ranked in enumerate(ranked_arms):
            expected = encoding.encode((3, 0.5), ranked.arm).tolist()
            assert list(features.row(i)) == expected
            assert features.x.reshape(2, -1)[i].tolist() == expected + [0.0] * 2


def test_contexts_met_before_are_known_but_not_to_a_copy() -> None:
    cache = FeatureCache(FeatureEncoding.of(SPEC))
    first = cache.encode((3, 0.5), RANKED)

    assert cache.known == {(3, 0.5): first}
    assert copy.deepcopy(cache).known == {}


def test_a_function_of_ones_own_is_asked_each_time() -> None:
    """It may know the hour, or what is in stock."""
    asked = []

    def own(_: object, arm: tuple[object, ...]) -> list[float]:
        asked.append(arm)
        return [float(len(asked))]

    cache = FeatureCache(FeatureEncoding.of(SPEC, own))

    assert [cache.encode((3, 0.5), RANKED).row(1) for _ in range(2)] == [(2.0,), (4.0,)]


def test_memory_is_bounded() -> None:
    cache = FeatureCache(FeatureEncoding.of(SPEC))
    for i in range(20_000):
        cache.encode((i, 0.5), RANKED)

    assert len(cache.known) * 64 <= 2**19


def test_all_arms_must_have_as_many_numbers() -> None:
    ragged = FeatureEncoding.of(SPEC, lambda _, arm: [1.0] * (2 if arm[1] else 3))
    bare = FeatureEncoding.of(BanditSpec())

    with pytest.raises(BadFeatures, match=r"are 3 numbers, and those of arm \('a', 1\) 2"):
        FeatureCache(ragged).encode((), RANKED)
    with pytest.raises(BadFeatures, match="are 2 numbers, and those of arm"):
        FeatureCache(bare).encode(
            (), RankedArms.of([RankedArm((1,), 0, 1, 0), RankedArm((1, 2), 0, 1, 1)])
        )


def test_slots_are_known_until_something_new_is_learned() -> None:
    features, stack = (
        FeatureCache(FeatureEncoding.of(SPEC)).encode((3, 0.5), RANKED),
        RidgeStack(6),
    )
    features.score_table[:, LIN_UCB_VERSION] = 5
    features.point_at(stack, [0, 1], 2)

    assert features.has_slots_of(RANKED, stack, 2)
    assert not features.has_slots_of(RANKED, stack, 3)
    assert not features.has_slots_of(RANKED, RidgeStack(6), 2)
    assert features.score_table[:, LIN_UCB_VERSION].tolist() == [-1, -1]
    assert features.score_table[:, STATISTICS].tolist() == [0, 1]


def test_when_only_ends_moved_the_rows_stay() -> None:
    """Bounds may be refreshed; the features of their arms stay."""
    cache = FeatureCache(FeatureEncoding.of(SPEC))
    moved = RankedArms(e._replace(upper=0.5) for e in RANKED)
    first = cache.encode((3, 0.5), RANKED)

    assert cache.encode((3, 0.5), moved).x is first.x
    assert cache.encode((3, 0.5), moved).score_table[:, UPPER].tolist() == [0.5, 0.5]
    assert cache.encode((3, 0.5), RankedArms(reversed(RANKED))).x is not first.x


def test_contexts_of_another_length_have_rows_of_their_own() -> None:
    """Nobody named the variables; the arms stand behind whatever came."""
    cache = FeatureCache(FeatureEncoding.of(BanditSpec()))
    ranked_arms = RankedArms.of([RankedArm((7,), 0, 1, 0), RankedArm((8,), 0, 1, 1)])

    for context in ((), (2,), (3, 4), (5,), ()):
        rows = [cache.encode(context, ranked_arms).row(i) for i in range(2)]
        assert rows == [(1.0, *context, 7.0), (1.0, *context, 8.0)]

"""What optimal allocation matching remembers."""

import copy
from itertools import pairwise

import numpy as np
import pytest

from boundit.bandit.errors import BadFeatures
from boundit.bandit.oam.round import MatchingConstants
from boundit.bandit.oam.statistics import MatchingStatistics
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound_table import BoundTable

RULE = MatchingConstants(1000.0, 0.0, 0.25, 0.01, 0.002)
SCENE = BanditSpec((("A",), ("B",)), (("A", "B"),), ("Age",), ((0, 1),))


def filled(rounds: int, seed: int = 0) -> MatchingStatistics:
    rng, book = np.random.default_rng(seed), MatchingStatistics(SCENE, None)
    for _ in range(rounds):
        context, arm = (int(rng.integers(2)),), ("AB"[rng.integers(2)],)
        book.add(context, arm, book.vector(context, arm), float(rng.random()))
    return book


def test_the_estimate_is_least_squares() -> None:
    rng, book = np.random.default_rng(1), MatchingStatistics(SCENE, None)
    rows, rewards = [], []
    for _ in range(40):
        context, arm = (int(rng.integers(2)),), ("AB"[rng.integers(2)],)
        rows.append(book.vector(context, arm))
        rewards.append(float(rng.random()))
        book.add(context, arm, rows[-1], rewards[-1])

    theta, spreads, unseen = book.estimates(np.array(rows))

    exact = np.linalg.lstsq(np.array(rows), np.array(rewards), rcond=None)[0]
    assert theta == pytest.approx(exact, abs=1e-5)
    assert spreads.sum() == pytest.approx(3, abs=1e-4)  # leverages add up to the rank
    assert unseen.max() < 1e-5


def test_what_was_never_pulled_is_unseen_until_its_direction_is() -> None:
    """D-32: the third vector is the sum of the first two."""
    book = MatchingStatistics(SCENE, None)
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

    assert book.estimates(x)[2] == pytest.approx([1, 1, 1])
    book.add((0,), ("A",), x[0], 0.5)
    assert book.estimates(x)[2] == pytest.approx([0, 1, 0.5], abs=1e-4)
    book.add((0,), ("B",), x[1], 0.5)
    assert book.estimates(x)[2] == pytest.approx([0, 0, 0], abs=1e-4)


def test_pairs_are_those_of_contexts_met_and_arms_not_ruled_out() -> None:
    """D-34: B is out in context 1, where its upper end is below A's lower end."""
    table = BoundTable.from_rows(
        [
            {"Arm": "A", "Age": 1, "lower": 0.5, "upper": 0.9},
            {"Arm": "B", "Age": 1, "lower": 0.1, "upper": 0.4},
        ],
        outcome="Y",
        treatments=["Arm"],
        context=["Age"],
        reward_range=(0, 1),
    )
    book = MatchingStatistics(SCENE, None)
    assert book.pairs(PriorBounds()).keys == ()

    book.add((1,), ("A",), book.vector((1,), ("A",)), 1.0)
    assert book.pairs(PriorBounds()).keys == (((1,), ("A",)), ((1,), ("B",)))
    assert book.pairs(PriorBounds(table)).keys == (((1,), ("A",)),)

    book.add((0,), ("B",), book.vector((0,), ("B",)), 1.0)
    book.add((0,), ("C",), np.array([1.0, 0.0, 0.0]), 1.0)
    with pytest.raises(BadFeatures):
        book.pairs(PriorBounds())


def test_the_allocation_is_worked_out_on_a_geometric_schedule() -> None:
    book, solved = filled(50), []
    for _ in range(400):
        before = book.allocation
        book.explored(PriorBounds(), RULE)
        if book.allocation is not before:
            solved.append(book.explorations)

    assert solved[:3] == [1, 2, 3]
    assert len(solved) < 100
    assert all(b <= 1.05 * a + 1 for a, b in pairwise(solved))
    assert set(book.allocation) == set(book.pairs(PriorBounds()).keys)


def test_two_books_add_up() -> None:
    shared = filled(10)
    one, two = (shared.restored(shared.record(), SCENE) for _ in range(2))
    both = shared.restored(shared.record(), SCENE)
    for i, book in enumerate((one, two)):
        arm = (("A",), ("B",))[i]
        for target in (book, both):
            target.add((i,), arm, target.vector((i,), arm), 0.25 * (i + 1))
            target.explored(PriorBounds(), RULE)

    joined = one.joined(two, shared)

    x = np.eye(3)
    for a, b in zip(joined.estimates(x), both.estimates(x), strict=True):
        assert a == pytest.approx(b)
    assert joined.explorations == both.explorations == 2
    assert joined.tally.record() == both.tally.record()
    assert joined.allocation == {}
    joined.explored(PriorBounds(), RULE)
    assert joined.allocation


def test_nothing_joined_with_nothing_is_nothing() -> None:
    empty = MatchingStatistics(SCENE, None)

    assert empty.joined(empty, empty).rows is None


def test_a_record_gives_the_book_back() -> None:
    book = filled(30)
    book.explored(PriorBounds(), RULE)

    again = MatchingStatistics(SCENE, None).restored(book.record(), SCENE)

    assert again.record() == book.record()
    assert again.allocation == book.allocation
    with pytest.raises(TypeError):
        book.restored([], SCENE)
    with pytest.raises(ValueError, match="do not fit"):
        book.restored({**book.record(), "moment": [1.0]}, SCENE)


def test_what_a_context_offers_is_looked_at_once() -> None:
    book, prior = filled(20), PriorBounds()
    lineup = prior.entrants(SCENE.arms, (1,), held=True)

    offer = book.offer((1,), lineup)

    assert book.offer((1,), lineup) is offer
    assert book.offer((1,), prior.entrants(SCENE.arms, (1,), held=False)) is not offer
    assert offer.x.tolist() == [book.vector((1,), arm).tolist() for arm in SCENE.arms]
    assert copy.deepcopy(book).offer((1,), lineup) is not offer


def test_features_of_two_lengths_are_refused() -> None:
    book = MatchingStatistics(SCENE, lambda _, arm: [1.0] * (1 + (arm == ("B",))))

    with pytest.raises(BadFeatures, match="are 2 numbers"):
        book.offer((0,), PriorBounds().entrants(SCENE.arms, (0,), held=True))

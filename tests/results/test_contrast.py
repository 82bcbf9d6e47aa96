from hypothesis import given
from hypothesis import strategies as st

from boundit.results.bound import Arm
from boundit.results.contrast import Pair, StoredContrasts, find_rival

A: Arm = ("a",)
B: Arm = ("b",)


def test_an_arm_is_beaten_only_when_it_is_surely_worse() -> None:
    """Section 3.8: strictly, so that no two arms dominate each other."""
    alike = [0.1, 0.1, 0.1]

    assert find_rival(0.5, alike, {1: 0.0}) is None
    assert find_rival(0.5, alike, {1: -0.1, 2: -0.2}) == (2, 0.2)
    assert find_rival(0.25, [0.125, 0.5, 0.25], {}) == (1, 0.25)
    assert find_rival(0.3, [0.1, 0.3, 0.2], {}) is None
    assert find_rival(1, [0], {}) is None


levels = st.tuples(st.integers(0, 3))
pairs = st.dictionaries(st.tuples(levels, levels, levels), st.floats(-1, 1), max_size=20)


@given(pairs)
def test_what_is_stored_is_what_was_given(contrasts: dict[Pair, float]) -> None:
    stored = StoredContrasts.of(contrasts)

    assert stored == contrasts == dict(stored.items())
    assert len(stored) == len(contrasts)
    assert {pair: stored[pair] for pair in stored} == contrasts
    assert repr(stored) == repr(dict(stored))
    assert StoredContrasts.of(stored) is stored
    for context in {context for context, _, _ in contrasts}:
        assert stored.find_within(context) == {
            one: {b: v for (c, a, b), v in contrasts.items() if (c, a) == (context, one)}
            for c, one, _ in contrasts
            if c == context
        }


def test_what_was_never_stored_is_not_found() -> None:
    stored = StoredContrasts.of({((0,), A, B): 0.1})

    assert stored.find_within((1,)) == {}
    assert stored.get(((0,), B, A)) is None
    assert stored.get(((1,), A, B)) is None
    assert stored.get(((0,), A, ("none",))) is None

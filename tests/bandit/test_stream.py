import numpy as np

from boundit.bandit.stream import stream


def test_it_hangs_on_seed_events_and_context_and_nothing_else() -> None:
    first = stream(0, 5, (1, "a")).random(3)

    np.testing.assert_array_equal(first, stream(0, 5, (1, "a")).random(3))
    for other in (stream(1, 5, (1, "a")), stream(0, 6, (1, "a")), stream(0, 5, (1, "b"))):
        assert not np.array_equal(first, other.random(3))


def test_neighbouring_streams_look_independent() -> None:
    draws = np.array([stream(0, events, ()).random() for events in range(2000)])

    assert abs(draws.mean() - 0.5) < 0.03
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.08

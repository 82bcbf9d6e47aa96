from tests.fuzz import fuzz


def test_hostile_texts_are_read_or_refused() -> None:
    """A small share of ``make fuzz``."""
    endings = fuzz(12_000, seed=1)

    assert endings["read"] > 1_000
    assert endings["MalformedText"] > 500
    assert len(endings) > 10

"""What ends carry to say why: plain values, compared by what they hold."""

from boundit.bounds.proof import RowKind, WorstPopulation


def test_kinds_with_equal_numbers_are_equal() -> None:
    one, other = (RowKind({"Y": 1}, 0.2, 0.4, ", the least allowed") for _ in range(2))

    assert one == other
    assert WorstPopulation((one,)) == WorstPopulation((other,), 0)

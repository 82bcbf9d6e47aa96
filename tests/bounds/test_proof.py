"""What ends carry to say why: plain values, compared by what they hold."""

from boundit.bounds.proof import Kind, Worst


def test_kinds_with_equal_numbers_are_equal() -> None:
    one, other = (Kind({"Y": 1}, 0.2, 0.4, ", the least allowed") for _ in range(2))

    assert one == other
    assert Worst((one,)) == Worst((other,), 0)

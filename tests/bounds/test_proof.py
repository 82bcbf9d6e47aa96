"""What ends carry to say why: plain values, compared by what they hold."""

from boundit.bounds.proof import EndProof, RowKind, WorstPopulation, fit_place


def test_kinds_with_equal_numbers_are_equal() -> None:
    one, other = (RowKind({"Y": 1}, 0.2, 0.4, ", the least allowed") for _ in range(2))

    assert one == other
    assert WorstPopulation((one,)) == WorstPopulation((other,), 0)


def test_a_proof_comes_to_its_sum_within_the_range_of_a_chance() -> None:
    terms = ((1.0, {"X": 1}, 0.5), (-2.0, {"X": 0}, 0.125))

    assert EndProof(frozenset("X"), 0.1, terms).value == 0.35
    assert EndProof(frozenset("X"), -1.0, terms).value == 0.0


def test_a_place_is_fitted_to_an_array_that_holds_for_every_level() -> None:
    assert fit_place((2, 1, 3), (5, 1, 4)) == (2, 0, 3)

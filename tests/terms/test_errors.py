from boundit.terms.errors import HasCycle, UnknownNode, shorten


def test_the_near_name_is_suggested_even_in_another_case() -> None:
    assert "did you mean 'REWARD'?" in str(UnknownNode("reward", ["REWARD", "X"]))


def test_long_listings_are_cut_so_that_a_message_stays_one_line() -> None:
    assert len(str(UnknownNode("?", [f"V{i}" for i in range(10_000)]))) < 200
    assert len(str(HasCycle([f"V{i}" for i in range(10_000)]))) < 200
    assert shorten("abc", 3) == "abc"


def test_facts_stay_on_the_error() -> None:
    error = UnknownNode("Z", {"X2", "X10"})

    assert (error.name, error.known) == ("Z", ["X2", "X10"])

from boundit.terms.progress import Told, say_nothing


def test_whoever_does_not_want_to_hear_hears_nothing() -> None:
    quiet: Told = say_nothing
    quiet("count", 1, 2)

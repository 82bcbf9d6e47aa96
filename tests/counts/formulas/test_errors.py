from boundit.counts.formulas.errors import (
    CannotEvaluate,
    NeedsPopulation,
    NotLogged,
    NotRecovered,
)
from boundit.estimand.language.expression import P
from tests.nodes import make_nodes


def test_each_says_what_is_missing() -> None:
    term = P(make_nodes("Y"), make_nodes("X"), logged=False)
    errors: list[CannotEvaluate] = [
        NeedsPopulation(term, [make_nodes("X", "Z")]),
        NotLogged("W", "XY"),
        NotRecovered(make_nodes("A", "B")),
    ]

    assert [str(error) for error in errors] == [
        "P(Y | X) is of the whole population, which the log does not show; "
        "give an external table over X, Y (given: X, Z)",
        "the log has no variable 'W'; it has X, Y",
        "Q[A, B] is a symbol without numbers; recover it first",
    ]

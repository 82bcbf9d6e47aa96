"""Which programs there are for a question, by the graph alone."""

import pytest

from boundit.bounds.rules.find_response_programs import (
    MOST_BETWEEN,
    SearchBudget,
    find_response_programs,
)
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.estimand.language.notation import write_text
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.solver import Solver
from boundit.graph.text import parse
from tests.nodes import make_nodes


def programs(
    drawn: str, x: str = "X", c: str = "", *, work: int = 3_000, tables: tuple[str, ...] = ()
) -> list[ResponseProgram]:
    graph = parse(drawn)
    asked = Question(make_nodes("Y"), frozenset(x.split()), frozenset(c.split()))
    solver = Solver(graph, [frozenset(table.split()) for table in tables])
    return list(find_response_programs(graph, asked, solver, SearchBudget(graph, work)))


def shown(found: list[ResponseProgram]) -> list[tuple[str, str]]:
    return [(" ".join(program.inside), write_text(program.law)) for program in found]


def test_the_bow_has_the_natural_bounds_and_nothing_else() -> None:
    (bow,) = programs("X -> Y; X <-> Y")

    assert (bow.inside, bow.arguments, bow.varied) == (("X", "Y"), ((), ("X",)), ())
    assert bow.is_natural
    assert bow.set_by_hand == ("X",)
    assert bow.fixed == ()


def test_an_instrument_gives_a_scenario_for_each_of_its_values() -> None:
    across, alone = programs("Z -> X -> Y; X <-> Y")

    assert (across.arguments, across.varied) == ((("Z",), ("X",)), ("Z",))
    assert write_text(across.law) == "P(X, Y | Z)"
    assert not across.is_natural
    assert alone.is_natural


def test_an_instrument_that_shares_luck_with_the_arm_is_seen_and_is_inside() -> None:
    """``Z <-> X <-> Y, Z -> X -> Y``: the plain instrument program is the tighter one."""
    assert shown(programs("Z -> X -> Y; Z <-> X <-> Y")) == [
        ("X Y", "P(X, Y | Z)"),
        ("Z X Y", "P(X, Y, Z)"),
        ("X Y", "P(X, Y)"),
    ]


def test_factors_that_are_known_become_weights() -> None:
    first = programs("X -> M -> Y; X -> Y; X <-> Y")[0]

    assert (first.inside, first.varied, first.summed) == (("X", "Y"), ("M",), ("M",))
    assert [write_text(weight) for weight in first.weights] == ["P(M | X)"]
    assert write_text(first.law) == "P(X) P(Y | M, X)"


def test_a_mediator_with_hidden_causes_has_types_of_its_own() -> None:
    assert shown(programs("X -> M -> Y; X <-> Y <-> M"))[0] == ("X M Y", "P(M, X, Y)")


def test_a_condition_is_given_and_selection_then_does_not_matter() -> None:
    (found,) = programs("W -> X -> Y; W -> Y; X <-> Y; W -> [S]", c="W")

    assert write_text(found.law) == "P(X, Y | W, S=1)"
    assert found.fixed == ("W",)


def test_there_is_none_where_selection_hides_who_chose_what() -> None:
    assert programs("X -> Y; X <-> Y; X -> [S]") == []
    assert shown(programs("X -> Y; X <-> Y; X -> [S]", tables=("X Y",))) == [("X Y", "P(X, Y)")]


def test_there_is_none_for_what_has_a_formula() -> None:
    assert programs("X -> Y") == []
    assert programs("Z -> X -> Y; Z -> Y", c="Z") == []


def test_a_treatment_that_selection_hides_is_set_by_hand_first() -> None:
    (found,) = programs("X -> Y; A -> Y; X <-> Y; A -> [S]", x="A X")

    assert (found.inside, found.fixed) == (("X", "Y"), ("A",))
    assert write_text(found.law) == "P(X, Y | A, S=1)"


def test_treatments_that_share_luck_are_all_left_to_nature() -> None:
    (found,) = programs("X -> Y; A -> Y; X <-> Y <-> A", x="A X")

    assert (found.inside, found.varied, found.fixed) == (("A", "X", "Y"), (), ())
    assert found.set_by_hand == ("A", "X")


def test_a_treatment_without_hidden_causes_has_one_value_in_a_program() -> None:
    found = programs("X -> Y; A -> Y; X <-> Y", x="A X")

    assert [(program.fixed, program.set_by_hand) for program in found] == [(("A",), ("X",))]


def test_what_responds_to_an_instrument_on_the_way_to_the_outcome_makes_it_none() -> None:
    assert all(not program.varied for program in programs("Z -> X -> Y; X <-> Y; Z <-> Y"))


def test_large_insides_are_not_tried() -> None:
    between = "; ".join(f"X -> M{i} -> Y; M{i} <-> Y" for i in range(MOST_BETWEEN + 1))

    assert shown(programs(f"X <-> Y; {between}")) == [("X Y", "P(X, Y)")]


@pytest.mark.parametrize(("work", "n"), [(0, 0), (3, 1), (3_000, 2)])
def test_effort_that_is_spent_finds_no_more(work: int, n: int) -> None:
    assert len(programs("Z -> X -> Y; X <-> Y", work=work)) == n


def test_the_steps_say_where_identify_stopped() -> None:
    steps = programs("Z -> X -> Y; X <-> Y")[0].steps
    assert tuple(map(str, steps[-2:])) == (
        "Identify stops for Q[Y] within X, Y",
        "response types of X, Y reproduce Q[X, Y] at every value of Z",
    )

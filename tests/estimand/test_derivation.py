"""Answers say what they are worth, and no more."""

from boundit.core.formula import StepRecord
from boundit.estimand.derivation import Identification, SeparationFact, Step
from boundit.estimand.expression import P
from tests.nodes import make_nodes


def test_a_recovery_without_a_formula_is_false() -> None:
    assert not Identification(None)
    assert Identification(P(make_nodes("Y")))


def test_failing_is_not_called_impossible_without_a_proof() -> None:
    assert str(Identification(None)) == "not found by these rules"
    assert Identification(None).latex() == r"\text{not found by these rules}"
    assert str(Identification(None, proof="ID is complete")) == "not identified: ID is complete"


def test_arbitrary_values_are_said_in_the_text() -> None:
    answer = Identification(P(make_nodes("Y"), make_nodes("Z")), arbitrary=make_nodes("Z"))

    assert str(answer) == "P(Y | Z, S=1), for any Z"
    assert answer.latex() == r"P(Y \mid Z, S{=}1)"


def test_earlier_steps_go_in_front() -> None:
    late = Identification(None, (Step(9, "stop"),))

    assert late.after(Step(5, "sum"), Step(15, "divide")).steps == (
        Step(5, "sum"),
        Step(15, "divide"),
        Step(9, "stop"),
    )


def test_a_step_is_kept_with_the_separation_it_rests_on() -> None:
    fact = SeparationFact(
        make_nodes("Y"), make_nodes("S"), make_nodes("X", "A"), into=make_nodes("X")
    )

    assert Step(None, "same", "Rule 1", fact).record == StepRecord(
        "Rule 1: same", (("Y",), ("S",)), ("A", "X"), into=("X",)
    )
    assert Step(5, "sum").record == StepRecord("Algorithm 2, line 5: sum")


def test_a_separation_that_failed_or_has_one_side_is_not_kept() -> None:
    failed = SeparationFact(
        make_nodes("Y"), make_nodes("S"), make_nodes(), walk=("Y", "->", "S")
    )
    lonely = SeparationFact(make_nodes("Y"), make_nodes(), make_nodes("X"))

    assert Step(None, "no", "Rule 1", failed).record.between is None
    assert Step(None, "same", "Rule 1", lonely).record.between is None

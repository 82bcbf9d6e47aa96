from boundit.decisions.choose.words import describe_choice
from boundit.results.bound import Arm
from boundit.results.choice import ContextChoice

A, B, C = ("A",), ("B",), ("C",)


def make_choice(
    lottery: dict[Arm, float],
    *,
    regret: float = 0.1,
    against: Arm | None = A,
    ties: tuple[Arm, ...] = (),
    ruled_out: dict[Arm, Arm] | None = None,
    by_differences: bool = False,
) -> ContextChoice:
    """Make a choice whose single arm is B."""
    return ContextChoice(
        context=(),
        lottery=lottery,
        regret=regret,
        against=against,
        floor=0.3,
        single=B,
        single_regret=0.2,
        single_against=C,
        ties=ties,
        ruled_out=ruled_out or {},
        by_differences=by_differences,
        marks=(),
        says="",
    )


def test_one_arm_is_said_with_what_it_costs_at_worst() -> None:
    said = describe_choice(make_choice({B: 1.0}), "Y", ["Ad"], "minimax-regret", None)

    assert said == "Nearest to the highest mean of Y: B; at worst it is 0.1 below that of A."


def test_an_arm_that_none_beats_costs_nothing() -> None:
    found = make_choice({B: 1.0}, regret=0.0, against=None)

    said = describe_choice(found, "Y", ["Ad"], "minimax-regret", None)

    assert said == "Highest mean of Y: B, whatever is true."


def test_a_lottery_is_promised_on_average_and_the_single_arm_said_too() -> None:
    said = describe_choice(make_choice({A: 0.25, B: 0.75}), "Y", ["Ad"], "minimax-regret", None)

    assert said.startswith(
        "Nearest to the highest mean of Y: draw A with chance 0.25 and B with chance 0.75; "
    )
    assert "Without a draw: B; at worst it is 0.2 below that of" in said


def test_other_rules_say_by_what_they_chose() -> None:
    found = make_choice({B: 1.0})

    assert "that is sure: B, at least 0.3" in describe_choice(
        found, "Y", ["Ad"], "maximin", None
    )
    assert "with optimism 0.4" in describe_choice(found, "Y", ["Ad"], "optimism", 0.4)


def test_ties_and_arms_that_are_out_are_named_or_counted() -> None:
    out: dict[Arm, Arm] = {C: B, ("D",): B, ("E",): A}
    found = make_choice({B: 1.0}, ties=(A,), ruled_out=out, by_differences=True)

    said = describe_choice(found, "Y", ["Ad"], "minimax-regret", None)

    assert "A would come as near." in said
    assert (
        "C and D are ruled out: the mean of B is surely higher. E is ruled out: the mean of"
        in said
    )
    assert "one unknown moves these arms alike" in said
    many: dict[Arm, Arm] = {(i,): B for i in range(9)}
    found = make_choice({B: 1.0}, ruled_out=many)
    assert "9 other arms are ruled out" in describe_choice(found, "Y", ["X"], "maximin", None)

from boundit.bounds.approximate.flat_rule import FlatRule, flatten_rule
from boundit.bounds.plan import BoundPlan, plan_sound
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from tests.bounds.approximate.logs import BACK_DOOR

LEVELS = dict.fromkeys("ABMWXYZ", 2)
SELECTED = plan_sound(
    parse("A -> X -> Y; A -> Y; B -> X; B -> Y; A -> B; B -> [S]; A -> [S]"),
    parse_query("Y | do(X)"),
    [frozenset("A")],
)


def flatten(plan: BoundPlan) -> dict[str, FlatRule]:
    found = {p.record.name: flatten_rule(p.rule, LEVELS) for p in plan.rules}
    return {name: flat for name, flat in found.items() if flat is not None}


def test_a_formula_and_a_chain_that_compute_the_same_are_one() -> None:
    flat = flatten(BACK_DOOR)

    assert flat.keys() == {"exact recovery", "recovery through Z"}
    assert len({each.identity for each in flat.values()}) == 1


def test_unknown_links_before_any_known_one_are_choices() -> None:
    flat = flatten(SELECTED)

    assert flat["conditioning on A, B"].choices == ("A'", "B'")
    assert flat["sequence A, B, unknown B"].choices == ()
    assert flat["conditioning on A, B"].is_extreme
    assert not flat["sequence A, B, unknown B"].is_extreme


def test_a_rule_that_knows_more_of_the_same_links_beats_another() -> None:
    flat = flatten(SELECTED)
    worse, better = flat["conditioning on A, B"], flat["sequence A, B, unknown B"]

    assert worse.is_beaten_by(better)
    assert not better.is_beaten_by(worse)
    assert not worse.is_beaten_by(worse)


def test_the_order_of_unknown_links_does_not_matter() -> None:
    flat = flatten(SELECTED)

    assert flat["conditioning on A, B"].identity == flat["conditioning on A, B #2"].identity


def test_the_natural_value_of_an_arm_is_a_variable_of_its_own() -> None:
    """Within a front door whose mediator is selected on, the arm is conditioned on."""
    plan = plan_sound(parse("X -> M -> Y; X <-> Y; M -> [S]"), parse_query("Y | do(X)"), ())
    nested = [each for each in flatten(plan).values() if len(each.links) == 2]

    assert nested
    for each in nested:
        assert {link.name for link in each.links} == {"M'", "X'"}
        assert "X" not in each.reward.free

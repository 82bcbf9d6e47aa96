"""Where a limit on hidden confounding is of use, by the graph alone; what is said if not."""

import pytest

from boundit.bounds.confounding.find_limited import LimitedSearch, note_limits
from boundit.bounds.confounding.limited_rule import LimitedConfounding
from boundit.bounds.confounding.limits import ConfoundingLimits
from boundit.bounds.plan import plan_bounds
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.query import parse_query
from boundit.graph.text import parse


def find(
    text: str, asked: str, *edges: str, rate: float | None = None
) -> list[LimitedConfounding]:
    graph, query = parse(text), parse_query(asked)
    limits = ConfoundingLimits.from_option(dict.fromkeys(edges, 2), graph)
    facts = SelectionFacts((rate, rate)) if rate else SelectionFacts()
    search = LimitedSearch(ChainSearch(graph, query), limits, facts)
    return search.find_rules(longest=3)


def test_covariates_close_what_is_open_besides_the_edge() -> None:
    (rule,) = find("X -> Y; X <-> Y; Z -> X; Z -> Y; W -> Y", "Y | do(X)", "X <-> Y")

    assert rule.covariates == ("Z",)
    assert (rule.target, rule.reward) == ("Y", None)


def test_several_sets_of_covariates_make_a_rule_each_and_none_holds_another() -> None:
    rules = find("X -> Y; X <-> Y; A -> X; A -> B -> Y", "Y | do(X)", "X <-> Y")

    assert [rule.covariates for rule in rules] == [("A",), ("B",)]


@pytest.mark.parametrize(
    ("text", "asked", "edge", "why"),
    [
        ("X -> Y; X <-> Y; A -> Y; A <-> Y", "Y | do(X)", "A <-> Y", "neither A nor Y is a tr"),
        ("X -> Y; A -> Y; X <-> A; A <-> Y", "Y | do(X, A)", "A <-> X", "both are treatments"),
        ("X -> Y; X <-> C; C <-> Y", "Y | do(X), C", "C <-> X", "C is a context"),
        (
            "X -> Y; X <-> Y; C <-> X; C <-> Y",
            "Y | do(X), C",
            "X <-> Y",
            "X <-> C <-> Y is open besides it",
        ),
        (
            "X -> Y; X <-> Y; C <-> X; C <-> Y",
            "Y | do(X)",
            "X <-> Y",
            "C may share the unseen cause of X and Y",
        ),
        ("X -> Y; X <-> Y; X -> [S]", "Y | do(X)", "X <-> Y", "selection hides the law of X"),
        (
            "X -> Y; X <-> Y; Y -> [S]; X <-> S",
            "Y | do(X)",
            "X <-> Y",
            "selection hides the law of X",
        ),
        ("X -> M -> Y; X <-> Y", "Y | do(X)", "X <-> Y", "has a formula without it"),
    ],
)
def test_a_limit_of_no_use_is_said_to_be_none_with_the_reason(
    text: str, asked: str, edge: str, why: str
) -> None:
    graph = parse(text)
    limits = ConfoundingLimits.from_option({edge: 2}, graph)
    plan = plan_bounds(graph, parse_query(asked), limits=limits)

    assert not any(isinstance(p.rule, LimitedConfounding) for p in plan.rules)
    (note,) = (str(note) for note in plan.notes if "limit" in str(note))
    assert note.startswith(f"the limit 2 on {edge} was not used: ")
    assert why in note


def test_on_wide_graphs_a_small_set_that_separates_is_found() -> None:
    """Of forty covariates only some are shortlisted, and the solver has no work left."""
    ways = "; ".join(f"A{i} -> X; A{i} -> B{i} -> Y" for i in range(2))
    many = "; ".join(f"D{i} -> X; D{i} -> D{i + 1}" for i in range(40))
    graph = parse(f"X -> Y; X <-> Y; {ways}; {many}")
    limits = ConfoundingLimits.from_option({"X <-> Y": 2}, graph)
    plan = plan_bounds(graph, parse_query("Y | do(X)"), limits=limits)
    rules = [p.rule for p in plan.rules if isinstance(p.rule, LimitedConfounding)]

    assert rules
    assert len(rules[0].covariates) == 2


def test_what_would_close_an_open_path_is_named() -> None:
    ways = "; ".join(f"A{i} -> X; A{i} -> Y" for i in range(4))
    graph = parse(f"X -> Y; X <-> Y; {ways}")
    limits = ConfoundingLimits.from_option({"X <-> Y": 2}, graph)
    plan = plan_bounds(graph, parse_query("Y | do(X)"), limits=limits)

    assert str(plan.notes[-1]).endswith("is open besides it, and A0, A1, A2, A3 would close it")


def test_a_limit_in_use_is_a_caveat_of_the_table() -> None:
    graph, query = parse("X -> Y; X <-> Y"), parse_query("Y | do(X)")
    limits = ConfoundingLimits.from_option({"X <-> Y": 1.5}, graph)
    search = ChainSearch(graph, query)
    rules = LimitedSearch(search, limits).find_rules(longest=0)

    assert [*note_limits(search, limits, rules)] == [
        "given that the unseen cause in X <-> Y moves the odds of each X by a factor of at "
        "most 1.5"
    ]


def test_treatments_that_may_be_seen_are_given_and_others_taken() -> None:
    (rule,) = find("X -> Y; A -> Y; X <-> Y; Z -> A; Z -> X", "Y | do(X, A)", "X <-> Y")

    assert [each.name for each in rule.taken] == ["X"]
    assert "A" in rule.taken[0].law.expression.free  # type: ignore[union-attr]


def test_a_cause_that_two_treatments_and_the_reward_may_share_makes_limits_no_use() -> None:
    """Given one treatment, its unseen cause tells of the other."""
    text = "A -> Y; B -> Y; A <-> Y; B <-> Y; A <-> B"

    assert not find(text, "Y | do(A, B)", "A <-> Y", "B <-> Y")


def test_a_treatment_without_a_limit_is_taken_as_one_of_which_nothing_is_known() -> None:
    (rule,) = find("A -> Y; B -> Y; A <-> Y; B <-> Y", "Y | do(A, B)", "B <-> Y")

    assert [(each.name, each.edge) for each in rule.taken] == [("A", None), ("B", ("B", "Y"))]


def test_facts_about_selection_take_the_place_of_formulas() -> None:
    text = "X -> Y; X <-> Y; X -> [S]; Y -> [S]; Z -> X; Z -> Y; Z -> [S]"

    assert not find(text, "Y | do(X)", "X <-> Y")
    (rule,) = find(text, "Y | do(X)", "X <-> Y", rate=0.5)
    assert rule.reweightings
    assert rule.covariates == ("Z",)

import numpy as np
import pytest
from scipy.stats import norm

from boundit.bounds.approximate.approximate_rules import (
    EXACT_SHARE,
    MIXED_SHARE,
    NO_FORMULA,
    ApproximateRules,
)
from boundit.bounds.approximate.rule_end import LEAST_REWARDS, TOO_FEW
from boundit.bounds.choose_rules import choose_rules
from boundit.bounds.derive import derive_bounds
from boundit.bounds.plan import BoundPlan, plan_sound
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import Floats
from boundit.counts.read import read_log
from boundit.counts.table import CountTable
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.long_work import say_nothing
from tests.bounds.approximate.logs import (
    BACK_DOOR,
    INSTRUMENT,
    NAPKIN,
    Strata,
    approximate,
    find_exact,
    read_evidence,
)


def find_interval(plan: BoundPlan, table: CountTable) -> tuple[Floats, Floats]:
    _, ends, _ = approximate(plan, read_evidence(plan, table))
    lower = np.max([each.lower for each in ends], axis=0)
    return lower, np.min([each.upper for each in ends], axis=0)


@pytest.mark.full
def test_a_back_door_is_as_narrow_as_the_normal_interval_and_holds_as_often() -> None:
    """True variances, Bonferroni over two rows: at most 1.05 times as wide, and 93 % hold."""
    n_rows, n_logs = 5_000, 300
    for n_strata in (2, 30):
        strata = Strata(n_strata, seed=n_strata)
        hits, widths = 0, list[Floats]()
        for seed in range(n_logs):
            low, high = find_interval(
                BACK_DOOR, strata.draw(n_rows, np.random.default_rng([n_strata, seed]))
            )
            hits += bool(((low <= strata.truth) & (strata.truth <= high)).all())
            widths.append(high - low)
        normal = 2 * norm.isf(0.05 / 4) * np.sqrt(strata.variance / n_rows)
        assert np.mean(widths) <= 1.05 * normal.mean()
        # Three standard errors below 95 of 100.
        assert hits / n_logs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / n_logs)


def test_a_row_of_few_rewards_keeps_its_exact_ends() -> None:
    log = read_log(
        {
            "Z": [0, 0, 0, 0],
            "X": [0, 0, 1, 1],
            "Y": [0, 1, 0, 1],
            "n": [500, 500, 500, LEAST_REWARDS - 1],
        },
        weight="n",
    ).count(["Z", "X"], reward="Y")
    evidence = read_evidence(BACK_DOOR, log)
    _, ends, notes = approximate(BACK_DOOR, evidence)

    boxes = find_exact(BACK_DOOR, evidence, 0.05)
    exact, _ = boxes(BACK_DOOR.rules, (2,), say_nothing)
    assert ends[0].lower[1] == exact[0].lower[1]
    assert ends[0].upper[1] == exact[0].upper[1]
    assert ends[0].lower[0] > exact[0].lower[0]
    assert notes == (
        "1 of 2 rows have fewer than 15 successes or failures that count, too few rows, or "
        "rewards that vary too little, for an approximation: their ends are exact",
    )
    assert ends[0].sampling is not None
    told = [ends[0].sampling((arm,), False) for arm in (0, 1)]
    assert [each.boxes if each else "" for each in told] == [None, TOO_FEW]


def test_a_formula_is_taken_once_and_the_rest_of_the_error_is_small() -> None:
    evidence = read_evidence(BACK_DOOR, Strata(3).draw(500, np.random.default_rng(0)))

    found = ApproximateRules(BACK_DOOR, evidence, 0.05)

    assert [*found.flat] == ["exact recovery"]
    assert found.exact_error == 0.05 * EXACT_SHARE


def test_programs_are_tried_on_halves_of_the_rows() -> None:
    evidence = read_evidence(INSTRUMENT, Strata(2).draw(3_000, np.random.default_rng(0)))

    found, ends, _ = approximate(INSTRUMENT, evidence)

    exact, _ = find_exact(INSTRUMENT, evidence, 0.05)(INSTRUMENT.rules, (2,), say_nothing)
    assert {flat.has_choice for flat in found.flat.values()} == {True, False}
    assert not found.is_mixed
    widths = [
        np.min([e.upper for e in each], axis=0) - np.max([e.lower for e in each], axis=0)
        for each in (ends, exact)
    ]
    assert (widths[0] < widths[1]).all()


def test_a_reward_that_is_not_0_or_1_keeps_exact_ends_of_programs() -> None:
    """Sums of rewards cannot be cut into halves; natural bounds are plain means."""
    rng = np.random.default_rng(0)
    z, x = rng.integers(0, 2, (2, 1_000))
    log = read_log({"Z": z, "X": x, "Y": rng.choice([0, 0.5, 1], 1_000)})
    evidence = read_evidence(INSTRUMENT, log.count(["Z", "X"], reward="Y"), declared=(0, 1))

    found = ApproximateRules(INSTRUMENT, evidence, 0.05)

    assert [flat.has_choice for flat in found.flat.values()] == [False]
    assert found.is_mixed


SELECTED = plan_sound(
    parse("A -> X -> Y; A -> Y; B -> X; B -> Y; A -> B; B -> [S]; A -> [S]"),
    parse_query("Y | do(X)"),
    [frozenset("A")],
)


def test_the_best_formulas_are_added_to_the_rules_that_are_tried() -> None:
    """Rules that reweight rank first there, and the rule that knows P(A) beats conditioning."""
    rng = np.random.default_rng(1)
    a, b, x, y = rng.integers(0, 2, (4, 2_000))
    log = read_log({"A": a, "B": b, "X": x, "Y": y}).count(["A", "B", "X"], reward="Y")
    evidence = read_evidence(SELECTED, log, read_log({"A": a}).count("A"))
    tried = choose_rules(SELECTED, evidence.evaluator.levels)

    found = ApproximateRules(SELECTED, evidence, 0.05)

    name = "sequence A, B, unknown B"
    assert [*found.flat] == [name]
    assert name not in [each.record.name for each in tried.rules]
    names = [each.record.name for each in found.add_formulas(tried.rules).rules]
    assert {name, *(each.record.name for each in tried.rules)} == {*names}
    assert not found.is_mixed


FACTS = SelectionFacts.from_options(selection_rate=0.5, selection_limit=None)


def test_a_fact_on_selection_can_be_nearer_and_gets_half_of_the_error() -> None:
    plan = plan_sound(SELECTED.graph, SELECTED.query, [frozenset("A")], facts=FACTS)
    rng = np.random.default_rng(1)
    a, b, x, y = rng.integers(0, 2, (4, 500))
    log = read_log({"A": a, "B": b, "X": x, "Y": y}).count(["A", "B", "X"], reward="Y")
    evidence = read_evidence(plan, log, read_log({"A": a}).count("A"))

    found = ApproximateRules(plan, evidence, 0.05)

    assert found.is_mixed
    assert found.exact_error == 0.05 * MIXED_SHARE


def test_a_conditioning_bound_keeps_its_exact_ends_at_the_whole_error() -> None:
    """Intervals of single cells are as near as can be."""
    plan = plan_sound(SELECTED.graph, SELECTED.query, ())
    rng = np.random.default_rng(1)
    a, b, x, y = rng.integers(0, 2, (4, 2_000))
    log = read_log({"A": a, "B": b, "X": x, "Y": y}).count(["A", "B", "X"], reward="Y")

    found, _, notes = approximate(plan, read_evidence(plan, log))

    assert not found.flat
    assert found.exact_error == 0.05
    assert notes == (NO_FORMULA,)


def test_of_two_formulas_for_one_number_the_one_of_less_error_is_taken() -> None:
    """A mediator that hardly hangs on the arm says more than the arm's few rows."""
    plan = plan_sound(parse("X -> M -> Y"), parse_query("Y | do(X)"), ())
    rng = np.random.default_rng(1)
    x = (rng.random(6_000) < 0.02).astype(int)
    m = (rng.random(6_000) < 0.5 + 0.1 * x).astype(int)
    y = (rng.random(6_000) < 0.4 + 0.2 * m).astype(int)
    log = read_log({"X": x, "M": m, "Y": y}).count(["X", "M"], reward="Y")
    direct, through = ("exact recovery", "recovery through M")

    _, ends, _ = approximate(plan, read_evidence(plan, log))

    found = dict(zip((each.record.name for each in plan.rules), ends, strict=True))
    rare = found[through].upper[1] - found[through].lower[1]
    assert rare < 0.1
    assert found[direct].upper[1] - found[direct].lower[1] > 2 * rare


def test_without_exact_ends_a_row_of_few_rewards_may_be_anything() -> None:
    log = read_log({"Z": [0, 0, 1, 1], "X": [0, 1, 0, 1], "Y": [0, 1, 1, 0]})
    evidence = read_evidence(BACK_DOOR, log.count(["Z", "X"], reward="Y"))

    ends, notes = ApproximateRules(BACK_DOOR, evidence, 0.05).find(
        None, (), BACK_DOOR.rules, (2,), say_nothing, whole=None, alone=()
    )

    assert all((each.lower == 0).all() and (each.upper == 1).all() for each in ends)
    assert str(notes[0]).endswith("nothing is said of them")


def test_where_two_arms_have_many_rewards_a_ratio_is_narrower_than_its_boxes() -> None:
    generator = np.random.default_rng(7)
    n = 3_000
    w, z, x = generator.integers(0, 2, (3, n))
    y = (generator.random(n) < 0.3 + 0.4 * x).astype(int)
    log = read_log({"W": w, "Z": z, "X": x, "Y": y}).count(["W", "Z", "X"], reward="Y")

    low, high = find_interval(NAPKIN, log)

    assert (high - low < 0.2).all()
    assert ((low < [0.3, 0.7]) & (high > [0.3, 0.7])).all()


def test_arms_and_contexts_that_tell_nothing_are_one_claim() -> None:
    """Several formulas of one number, none of which reads the arm."""
    rng = np.random.default_rng(0)
    log = {name: rng.integers(0, 2, 200) for name in ("A", "X", "C", "Y")}
    graph = parse("A -> X; A <-> C; Y")
    table = derive_bounds(graph, "Y | do(X), C", log, inference="approximate")
    assert len({(bound.lower, bound.upper) for bound in table.bounds.values()}) == 1

"""Comparisons of policies: endpoints against one program over everything, verdicts, words."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

import boundit as bd
from boundit.core.interval import Interval
from boundit.decisions.compare import (
    AnswersContradict,
    CannotCompare,
    Comparison,
    ContextDifference,
    compare,
)
from boundit.decisions.policies import InvalidPolicy, Measured, ReadPolicy, read_policy
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from tests.decisions.tables import draw_policy, draw_table, make_table

Lotteries = dict[Context, dict[Arm, float]]


def solve_largest(
    table: BoundTable, new: Lotteries, old: Lotteries, shares: dict[Context, float]
) -> float:
    """The greatest difference over all means of all contexts at once, by one program."""
    keys = list(table.bounds)
    place = {key: i for i, key in enumerate(keys)}
    costs = np.zeros(len(keys))
    for (arm, where), i in place.items():
        costs[i] = shares[where] * (new[where].get(arm, 0) - old[where].get(arm, 0))
    rows, ends = [], []
    for (where, one, other), most in table.contrasts.items():
        row = np.zeros(len(keys))
        row[place[one, where]], row[place[other, where]] = 1, -1
        rows.append(row)
        ends.append(most)
    found = linprog(
        -costs,
        A_ub=np.array(rows) if rows else None,
        b_ub=ends or None,
        bounds=[(bound.lower, bound.upper) for bound in table.bounds.values()],
    )
    return float(-found.fun)


@pytest.mark.parametrize("seed", range(12))
def test_ends_are_those_of_one_program_over_all_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = draw_table(rng, int(rng.integers(2, 5)), int(rng.integers(1, 4)))
    new, old = draw_policy(rng, table), draw_policy(rng, table)
    shares = dict(
        zip(table.contexts, rng.dirichlet(np.ones(len(table.contexts))).tolist(), strict=True)
    )
    found = compare(table, new, old, shares=shares).interval
    assert found.upper == pytest.approx(solve_largest(table, new, old, shares), abs=1e-8)
    assert found.lower == pytest.approx(-solve_largest(table, old, new, shares), abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_shares_are_the_worst_context_decides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = draw_table(rng, 3, 3)
    new, old = draw_policy(rng, table), draw_policy(rng, table)
    found = compare(table, new, old, shares="any").interval
    corners = [
        solve_largest(table, new, old, {c: float(c == where) for c in table.contexts})
        for where in table.contexts
    ]
    assert found.upper == pytest.approx(max(corners), abs=1e-8)


def test_a_policy_is_no_better_than_itself() -> None:
    table = make_table()
    found = compare(table, {0: "a", 1: "b"}, {0: "a", 1: "b"})
    assert found.interval.width == pytest.approx(0, abs=1e-12)
    assert found.verdict == "inconclusive"


def test_verdicts_are_turned_with_their_sides() -> None:
    table = make_table()
    better = compare(table, "b", "a", shares={0: 1})
    worse = compare(table, "a", "b", shares={0: 1})
    assert better.verdict == "better"
    assert better
    assert better.lower == pytest.approx(0.1)
    assert worse.verdict == "worse"
    assert not worse
    assert worse.upper == pytest.approx(-0.1)
    assert compare(table, "b", "a").verdict == "inconclusive"


def test_what_the_bounds_know_of_differences_is_shared() -> None:
    table = make_table()
    told = replace(table, contrasts={((1,), ("a",), ("b",)): -0.05})
    assert not compare(table, "b", "a")
    found = compare(told, "b", "a")
    assert found
    assert [each.shared for each in found.differences] == [False, True]
    assert "Unknowns that the arms share were held equal in 1 of 2 contexts" in str(found)


def test_differences_hold_at_the_confidence_of_the_table() -> None:
    told = replace(make_table(), contrasts={((1,), ("a",), ("b",)): -0.05}, confidence=0.95)
    found = compare(told, "b", "a")
    assert found
    assert found.confidence == 0.95


def test_a_measured_value_is_subtracted_and_its_error_counts() -> None:
    table = replace(make_table(), confidence=0.95)
    measured = Measured(0.15, 0.25, confidence=0.97)
    found = compare(table, "b", measured, shares={0: 1})
    assert found.interval.lower == pytest.approx(0.15)
    assert found.interval.upper == pytest.approx(0.45)
    assert found.confidence == pytest.approx(0.92)
    turned = compare(table, measured, "b", shares={0: 1})
    assert turned.verdict == "worse"
    assert turned.interval.lower == pytest.approx(-0.45)


def test_a_sample_of_contexts_costs_confidence() -> None:
    units = {"C": [0] * 900 + [1] * 100}
    sure = compare(replace(make_table(), confidence=0.95), "b", "a", shares=units)
    plain = compare(replace(make_table(), profile="sound"), "b", "a", shares=units)
    assert sure.confidence == pytest.approx(0.94)
    assert plain.confidence is None
    assert "plug-in estimates" in str(plain)
    assert sure.interval.lower < plain.interval.lower
    assert plain.interval.upper < sure.interval.upper


def test_the_contexts_that_decide_come_first() -> None:
    found = compare(make_table(), "b", "a", shares={0: 0.5, 1: 0.5})
    assert found.deciding[0] == (1,)
    sure = compare(make_table(), "b", "a", shares={0: 0.95, 1: 0.05})
    assert sure.deciding[0] == (0,)
    worse = compare(make_table(), "a", "b", shares={0: 0.95, 1: 0.05})
    assert worse.verdict == "worse"
    assert worse.deciding[0] == (0,)
    assert compare(make_table(), "b", "a").deciding[0] == (1,)


def make_trial(n: int, seed: int = 0) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    c = rng.integers(2, size=n)
    chance = np.where(c == 1, 0.75, 0.25)
    x = (rng.random(n) < chance).astype(int)
    y = (rng.random(n) < 0.2 + 0.3 * x + 0.2 * c).astype(int)
    p = np.where(x == 1, chance, 1 - chance)
    columns = {"C": c, "X": x, "Y": y, "p": p}
    return {name: column.tolist() for name, column in columns.items()}


GRAPH = bd.parse_graph("C -> X -> Y; C -> Y")


def test_propensities_narrow_what_bounds_say() -> None:
    log = make_trial(4_000)
    table = bd.derive_bounds(GRAPH, "Y | do(X), C", log)
    without = compare(table, 1, 0, log=log, graph=GRAPH)
    found = compare(table, 1, 0, log=log, graph=GRAPH, propensity="p")
    assert 0.3 in found.interval
    assert found.confidence == pytest.approx(0.94)
    wide = compare(make_open(table), 1, 0, log=log, graph=GRAPH, propensity="p")
    assert wide.interval.width < 0.2
    assert without.verdict == found.verdict == "better"
    assert "The propensities give" in str(found)


def test_without_a_chance_propensities_give_an_estimate() -> None:
    log = make_trial(300)
    table = replace(make_open(bd.derive_bounds(GRAPH, "Y | do(X), C", log)), profile="sound")
    found = compare(table, 1, 0, log=log, graph=GRAPH, propensity="p")
    assert found.interval.width < 0.2
    assert found.confidence is None


def make_open(table: BoundTable) -> BoundTable:
    """The same arms and contexts, of which nothing is known."""
    rows = [{"X": arm[0], "C": where[0], "lower": 0, "upper": 1} for arm, where in table.bounds]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )


def test_bounds_and_propensities_that_contradict_are_an_error() -> None:
    log = make_trial(4_000)
    rows = [
        {"X": x, "C": c, "lower": 0.9 * (1 - x), "upper": 1 - 0.9 * x}
        for x in (0, 1)
        for c in (0, 1)
    ]
    wrong = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    with pytest.raises(AnswersContradict, match="the propensities"):
        compare(wrong, 1, 0, log=log, propensity="p")


def test_rows_that_contradict_the_arms_are_an_error() -> None:
    """What the log did lies between the arms where nothing else moves the reward."""
    log = make_trial(4_000)
    rows = [{"X": x, "C": c, "lower": 0.95, "upper": 1.0} for x in (0, 1) for c in (0, 1)]
    wrong = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    with pytest.raises(AnswersContradict, match="the rows of the log"):
        compare(wrong, 1, bd.LOGGED, log=log, graph=GRAPH)
    plug_in = replace(wrong, profile="sound")
    assert compare(plug_in, 1, bd.LOGGED, log=log, graph=GRAPH)


def test_what_the_log_did_is_compared_with_a_confidence_of_its_own() -> None:
    log = make_trial(4_000)
    table = bd.derive_bounds(GRAPH, "Y | do(X), C", log)
    found = compare(table, 1, bd.LOGGED, log=log, graph=GRAPH)
    truth = 0.5 * 0.3 * 0.75 + 0.5 * 0.3 * 0.25
    assert truth in found.interval
    assert found
    assert found.confidence == pytest.approx(0.94)
    turned = compare(table, "log", 1, log=log, graph=GRAPH)
    assert turned.interval.lower == pytest.approx(-found.interval.upper)
    assert turned.interval.upper == pytest.approx(-found.interval.lower)


def test_an_estimator_that_is_none_is_refused_though_nothing_is_estimated() -> None:
    with pytest.raises(bd.BounditError, match="estimator='foo' is not an estimator"):
        compare(make_table(), "a", "b", estimator="foo")  # type: ignore[arg-type]


LOG = {"C": [0, 1], "X": ["a", "b"], "Y": [0, 1], "p": [0.5, 0.5]}
BIASED = bd.parse_graph("C -> X -> Y; C -> [S]")


@pytest.mark.parametrize(
    ("baseline", "options", "said"),
    [
        (bd.LOGGED, {}, "Give both beside the bounds"),
        ("log", {"log": LOG}, "Give both"),
        ("log", {"log": bd.read_log(LOG, adaptive=True), "graph": GRAPH}, "has no single mean"),
        ("log", {"log": LOG, "graph": GRAPH, "costs": {"a": 1}}, "not known. Leave them out"),
        ("a", {"propensity": "p"}, "Give the log too"),
        ("a", {"propensity": "p", "log": LOG, "graph": BIASED}, "do not undo selection"),
        ("a", {"propensity": "p", "log": LOG, "shares": {0: 1}}, "Leave out shares"),
        ("a", {"propensity": "p", "log": LOG, "costs": {"a": 1}}, "Leave out either"),
        ("a", {"shares": "log"}, "needs the log and its graph"),
        ("a", {"shares": "log", "log": LOG}, "needs the log and its graph"),
        ("a", {"shares": "log", "log": LOG, "graph": BIASED}, "selection may change how"),
    ],
)
def test_what_is_missing_is_said_in_a_line(
    baseline: object, options: dict[str, object], said: str
) -> None:
    with pytest.raises(CannotCompare, match=said):
        compare(make_table(), "b", baseline, **options)  # type: ignore[arg-type]


def test_the_logging_policy_is_not_compared_with_itself() -> None:
    with pytest.raises(CannotCompare, match="Both policies"):
        compare(make_table(), "log", bd.LOGGED, log=LOG, graph=GRAPH)


def test_policies_are_compared_by_a_table_of_bounds() -> None:
    with pytest.raises(CannotCompare, match="not by dict"):
        compare({}, "a", "b")  # type: ignore[arg-type]


def test_the_error_is_shared_by_the_samples_that_are_read() -> None:
    """Shares, the logging policy and propensities together cost a fifth of the table's error."""
    log = make_trial(2_000)
    table = bd.derive_bounds(GRAPH, "Y | do(X), C", log)
    for options in (
        {"shares": "log"},
        {"shares": "log", "propensity": "p"},
        {"propensity": "p"},
    ):
        found = compare(table, 1, bd.LOGGED, log=log, graph=GRAPH, **options)  # type: ignore[arg-type]
        assert found.confidence == pytest.approx(0.94)
    assert compare(table, 1, 0, log=log, graph=GRAPH).confidence == pytest.approx(0.95)


def make_comparison(low: float, high: float, n: int = 1) -> Comparison:
    differences = tuple(
        ContextDifference((i,), Interval(1 / n, 1 / n), Interval(low, high), shared=False)
        for i in range(n)
    )
    deciding = ((n - 1,),) if n > 1 else ()
    return Comparison(
        "b", "a", Interval(low, high), ("C",), differences, deciding, ("Because.",), 0.95
    )


def test_a_comparison_is_said_with_its_numbers_rounded_outward() -> None:
    assert make_comparison(0.12349, 0.45671).summary == (
        "Better: the mean of b is 0.1234 to 0.4568 higher than that of a."
    )
    assert make_comparison(-0.3, -0.1).summary == (
        "Worse: the mean of b is 0.1 to 0.3 lower than that of a."
    )
    assert replace(make_comparison(-0.3, -0.1), goal="min").verdict == "better"
    assert make_comparison(-0.3, 0.1).summary == (
        "Inconclusive: the mean of b is between -0.300 and +0.100 relative to a."
    )
    assert repr(replace(make_comparison(-0.3, 0.1), any_mix=True)) == (
        "<Comparison of b with a: inconclusive, [-0.300, +0.100] for any mix of C>"
    )


@pytest.mark.parametrize("ends", [(0.0, 0.3), (1e-17, 2e-17), (-2e-17, -1e-17)])
def test_what_touches_zero_up_to_rounding_is_inconclusive(ends: tuple[float, float]) -> None:
    assert make_comparison(*ends).verdict == "inconclusive"


def test_text_has_contexts_notes_and_confidence() -> None:
    long = make_comparison(0.1, 0.3, 40)
    shown = str(long).splitlines()
    assert shown[2].split() == ["C", "lower", "upper", "share"]
    assert shown[3].split() == ["39", "+0.100", "+0.300", "0.025"]
    assert shown[-4:] == [
        "and 10 more rows (--all-rows, or .frame(), has all)",
        "",
        "Because.",
        "95% confidence.",
    ]
    assert len(long.format(all_rows=True).splitlines()) == len(shown) + 9
    found = make_comparison(0.1, 0.3, 2)
    record = json.loads(json.dumps(found.record()))
    assert (record["verdict"], record["interval"]) == ("better", [0.1, 0.3])
    assert found.rows()[0]["share_lower"] == 0.5
    page = found.page().write()
    assert f'<p class="verdict">{found.summary}</p>' in page


def test_it_is_said_what_a_confidence_rests_on() -> None:
    table = replace(make_table(), confidence=0.95, profile="sound")
    found = compare(table, "b", Measured(0.2, confidence=0.9), shares={0: 1})
    assert "Confidence: 95% of the bounds, less 10% for the data beside them." in str(found)
    approximate = replace(table, inference="approximate")
    assert "is approximate (large samples)" in str(compare(approximate, "b", "a"))
    units = "independent clusters by User"
    clustered = replace(table, units=units)
    assert f"The bounds are for {units}" in str(
        compare(clustered, "b", "a", shares={"C": [0, 1]})
    )
    assert units not in str(compare(clustered, "b", "a"))


def test_costs_count_against_a_policy() -> None:
    table = make_table()
    assert compare(table, "b", "a", shares={0: 1}).lower == pytest.approx(0.1)
    dear = compare(table, "b", "a", shares={0: 1}, costs={"b": 0.7})
    assert (dear.verdict, round(dear.upper, 9)) == ("worse", -0.2)
    fewer = compare(table, "a", "b", shares={0: 1}, costs={"b": 0.2}, goal="min")
    assert fewer.verdict == "better"
    assert fewer.upper == pytest.approx(-0.3)


def test_a_measured_mean_is_an_interval_with_a_confidence() -> None:
    assert Measured(0.5).interval == Interval(0.5, 0.5)
    assert Measured(0.5).error == 0
    assert Measured(0.4, 0.6, confidence=0.75).error == 0.25
    for wrong in ((float("nan"),), (True,), (0.6, 0.4), (0.4, 0.6, 1.5), (0.4, "x")):
        with pytest.raises(InvalidPolicy, match="Measured: "):
            Measured(*wrong)


def test_the_logging_policy_stays_the_same_in_copies() -> None:
    assert copy.deepcopy(bd.LOGGED) is bd.LOGGED
    assert pickle.loads(pickle.dumps(bd.LOGGED)) is bd.LOGGED


def read(given: object, table: BoundTable | None = None) -> ReadPolicy:
    table = table or make_table()
    found = read_policy(given, table, table.contexts, "policy")
    assert isinstance(found, ReadPolicy)
    return found


def make_plain_table() -> BoundTable:
    rows = [{"X": x, "lower": 0.1, "upper": 0.3} for x in ("a", "b", "log")]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))


def test_an_arm_is_chosen_in_every_context() -> None:
    for given in ("a", ("a",), {"X": "a"}):
        assert read(given).probabilities == {(0,): {("a",): 1}, (1,): {("a",): 1}}
    assert str(read("a")) == "a"


def test_contexts_have_arms_or_chances() -> None:
    found = read({0: "a", (1,): {"a": 0.25, ("b",): 0.75}})
    assert found.probabilities == {(0,): {("a",): 1}, (1,): {("a",): 0.25, ("b",): 0.75}}


def test_without_context_chances_stand_alone() -> None:
    table = make_plain_table()
    found = read({"a": 0.5, "b": 0.5}, table)
    assert found.probabilities == {(): {("a",): 0.5, ("b",): 0.5}}
    assert read({(): "b"}, table).probabilities == {(): {("b",): 1}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("z", "has no level 'z'"),
        ({0: "a"}, "no arm for the context C=1"),
        ({0: "a", 1: "b", 2: "a"}, "no level 2"),
        ({0: "a", 1: {"a": 0.5, "b": 0.6}}, "add up to 1.1"),
        ({0: "a", 1: {"a": 1.5, "b": -0.5}}, "a number from 0 to 1"),
        ({0: "a", 1: {"a": "half", "b": 0.5}}, "a number from 0 to 1"),
        ({0: "a", 1: {"a": 0.5, ("a",): 0.5}}, "two probabilities"),
        ({0: "a", 1: {"a": float("nan"), "b": 1}}, "a number from 0 to 1"),
    ],
)
def test_what_is_no_policy_is_refused_in_a_line(given: object, said: str) -> None:
    with pytest.raises(InvalidPolicy, match=said):
        read(given)


def test_a_fitted_policy_is_asked_and_stays_as_it_is() -> None:
    table = make_table()
    for policy in (bd.TS(prior=table, seed=1), bd.LinUCB(prior=table, explore=0.2)):
        policy.learn(policy.decide({"C": 1}), 1.0)
        before = json.dumps(policy.state())
        found = read(policy, table)
        assert json.dumps(policy.state()) == before
        for drawn in found.probabilities.values():
            assert sum(drawn.values()) == pytest.approx(1)
            assert set(drawn) <= {("a",), ("b",)}


def test_a_choice_is_a_policy() -> None:
    found = read(make_table().choose())
    assert found.probabilities[(0,)] == {("b",): 1}
    assert sum(found.probabilities[(1,)].values()) == pytest.approx(1)
    assert str(found) == "the choice"


def test_a_policy_that_decides_by_numbers_has_no_one_answer_for_a_bin() -> None:
    rows = [
        {"X": x, "C": c, "lower": 0.1, "upper": 0.3}
        for x in ("a", "b")
        for c in ("< 4", ">= 4")
    ]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    binned = replace(table, bins={"C": (4.0,)})
    assert read(bd.UCB(prior=binned), binned).probabilities
    with pytest.raises(InvalidPolicy, match="in bins"):
        read(bd.LinUCB(prior=binned), binned)


def test_the_word_log_is_the_logging_policy_unless_it_is_an_arm() -> None:
    table = make_table()
    assert read_policy("log", table, table.contexts, "baseline") is bd.LOGGED
    assert read("log", make_plain_table()).probabilities == {(): {("log",): 1}}


def test_whatever_is_no_arm_is_refused_in_one_line() -> None:
    class Frame:
        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            return "   C  X\n0  0  1\n" * 40

    with pytest.raises(InvalidPolicy) as caught:
        read(Frame())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200

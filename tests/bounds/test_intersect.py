from dataclasses import dataclass, replace

import numpy as np
import pytest

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.explain import MOST_SAMPLED
from boundit.bounds.intersect import (
    CROSSED,
    EndsCross,
    NoModelFits,
    find_intervals,
    intersect_rules,
)
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.plan import BoundPlan
from boundit.bounds.proof import EndProof
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.read import read_log
from boundit.counts.table import CountTable
from boundit.estimand.language.expression import Expression
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.terms.bound import Bound, RuleRecord
from boundit.terms.explanation import NEVER_LOGGED
from boundit.terms.interval import Interval
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes
from boundit.terms.sampling import EndSampling, HeavyCell, RowSampling

QUERY = parse_query("Y | do(X)")
COUNTED = read_log({"X": ["a", "b", "b"], "Y": [0, 1, 1]}).count(["X"], reward="Y")
EXACT = read_log({"X": ["a", "b"], "Y": [0, 1], "p": [0.5, 0.5]}, weight="p", exact=True).count(
    ["X"], reward="Y"
)


@dataclass(frozen=True, eq=False)
class FixedRule(BoundRule):
    """A rule whose ends are given."""

    name: str
    found: Ends
    query: EffectQuery = QUERY
    formulas: tuple[Expression, ...] = ()
    range_variables: Nodes = frozenset()
    n_unknown: int = 0

    def write_record(self) -> RuleRecord:
        return RuleRecord(self.name, self.name)

    def find_ends(self, numbers: Numbers, budget: TimeBudget) -> Ends:
        del numbers, budget
        return self.found


def says(name: str, lower: list[float], upper: list[float]) -> FixedRule:
    return FixedRule(name, Ends(np.array(lower), np.array(upper)))


def planned(*rules: FixedRule) -> BoundPlan:
    return BoundPlan.of(parse("X -> Y"), QUERY, "sound", rules)


def rows(log: CountTable, *rules: FixedRule) -> dict[object, Bound]:
    evaluator = Evaluator(BinaryReward(log, "Y", 0, 1))
    found, _ = intersect_rules(planned(*rules), evaluator, log, (0, 10))
    return {arm[0]: bound for (arm, _), bound in found.items()}


def test_each_end_is_the_best_and_names_its_rule() -> None:
    one, other = says("one", [0.2, 0.0], [0.9, 1.0]), says("other", [0.1, 0.0], [0.6, 1.0])
    found = rows(COUNTED, one, other)

    assert (found["a"].lower, found["a"].upper) == (2.0, 6.0)
    assert (found["a"].lower_rule, found["a"].upper_rule) == ("one", "other")
    assert (found["b"].lower, found["b"].upper) == (0.0, 10.0)
    assert (found["b"].lower_rule, found["b"].upper_rule) == ("range", "range")
    assert (found["a"].n, found["b"].n) == (1.0, 2.0)


def test_ends_that_cross_in_an_exact_law_refute_the_graph_and_name_both_rules() -> None:
    one, other = says("one", [0.7, 0.1], [0.9, 0.2]), says("other", [0.1, 0.1], [0.6, 0.2])

    with pytest.raises(EndsCross, match=r"X='a'.*'one' against 'other'") as caught:
        rows(EXACT, one, other)
    assert len(caught.value.rows) == 1


def test_plug_in_ends_that_cross_leave_the_narrowest_rule_and_a_mark() -> None:
    one, other = says("one", [0.7, 0.1], [0.9, 0.2]), says("other", [0.1, 0.15], [0.6, 0.3])
    found = rows(COUNTED, one, other)

    assert (found["a"].lower, found["a"].upper) == (7.0, 9.0)
    assert found["a"].lower_rule == found["a"].upper_rule == "one"
    assert found["a"].marks == (CROSSED,)
    assert found["b"].marks == ()
    assert (found["b"].lower, found["b"].upper) == (1.5, 2.0)


def test_rounding_is_no_crossing() -> None:
    one, other = says("one", [0.5, 0.5], [1, 1]), says("other", [0, 0], [0.5 - 1e-12] * 2)

    found = rows(EXACT, one, other)
    assert found["a"].lower <= found["a"].upper


def test_a_level_never_logged_is_marked() -> None:
    log = COUNTED.add_levels({"X": ["c"]})

    assert rows(log)["c"].marks == (NEVER_LOGGED,)
    assert (rows(log)["c"].lower, rows(log)["c"].upper) == (0.0, 10.0)


WHY = EndSampling(1.0, 0.0)
EMPTY = Ends(np.zeros(2), np.ones(2), np.array([True, False]))


def test_an_exact_law_that_no_model_fits_refutes_the_graph_and_names_the_rule() -> None:
    with pytest.raises(NoModelFits, match=r"X='a' \(by 'program'\)") as caught:
        rows(EXACT, says("one", [0, 0], [1, 1]), FixedRule("program", EMPTY))
    assert len(caught.value.rows) == 1


def test_plug_in_numbers_that_no_model_fits_leave_the_rule_out_and_a_mark() -> None:
    found = rows(COUNTED, says("one", [0.2, 0.2], [0.6, 0.6]), FixedRule("program", EMPTY))

    assert found["a"].marks == (
        "by chance no model of the graph fits 'program' here, so that rule was left out",
    )
    assert (found["a"].lower, found["a"].upper) == (2.0, 6.0)
    assert found["b"].marks == ()


def test_a_proof_is_written_as_a_sum_with_the_levels_of_the_log() -> None:
    terms = ((1.0, {"X": 1, "Y": 1}, 0.25), (-2.0, {"X": 0, "Y": 0}, 0.125))
    proof = EndProof(frozenset("Y"), 0.5, terms)
    ends = Ends(np.full(2, 0.5), np.ones(2), None, lambda _, upper: None if upper else proof)

    written = rows(COUNTED, FixedRule("program", ends))["a"].lower_cells
    assert tuple(map(str, written)) == (
        "0.5",
        "+ 1 x P(Y=10 | X='b') = 0.25",
        "- 2 x P(Y=0 | X='a') = 0.125",
    )


def test_notes_of_the_rules_are_kept_once() -> None:
    ends = Ends(np.zeros(2), np.ones(2), notes=("hurried",))
    plan = planned(FixedRule("one", ends), FixedRule("other", ends))
    evaluator = Evaluator(BinaryReward(COUNTED, "Y", 0, 1))

    assert intersect_rules(plan, evaluator, COUNTED, (0, 1))[1] == ("hurried",)


def test_small_tables_say_why_chance_widens_them() -> None:
    """Cells are named as the log has them."""
    cell = HeavyCell((("X", 1), ("Q", 3)), rows=2, share=0.5)
    why = EndSampling(7.0, 0.0, (cell,))
    ends = Ends(
        np.full(2, 0.1), np.full(2, 0.9), sampling=lambda _, upper: None if upper else why
    )
    found = allow_for_chance(COUNTED, FixedRule("one", ends))["a"].sampling

    assert found == RowSampling(
        replace(why, heaviest=(replace(cell, levels=(("X", "b"), ("Q", 3))),)), None
    )


def test_tables_of_many_rows_do_not_say_why_chance_widens_them() -> None:
    log = COUNTED.add_levels({"X": [f"x{i}" for i in range(MOST_SAMPLED - 2)]})
    assert allow_for_chance(log, FixedRule("one", full(log)))["a"].sampling == RowSampling(
        WHY, WHY
    )

    log = COUNTED.add_levels({"X": [f"x{i}" for i in range(MOST_SAMPLED)]})
    assert allow_for_chance(log, FixedRule("one", full(log)))["a"].sampling is None


def test_intervals_alone_are_rewards_and_refute_nothing_where_they_cross() -> None:
    one, two = says("one", [0.2, 0.7], [0.6, 0.9]), says("two", [0.3, 0.1], [0.7, 0.2])
    plan = planned(one, two)
    found = find_intervals(plan, lambda *_: ([one.found, two.found], ()), COUNTED, (0, 10))

    assert found == {(("a",), ()): Interval(3.0, 6.0), (("b",), ()): Interval(1.0, 2.0)}


def full(log: CountTable) -> Ends:
    shape = len(log.levels["X"])
    return Ends(np.full(shape, 0.1), np.full(shape, 0.9), sampling=lambda *_: WHY)


def allow_for_chance(log: CountTable, rule: FixedRule) -> dict[object, Bound]:
    """The rows of a table by one rule, with ends that allow for chance."""
    plan, evaluator = planned(rule), Evaluator(BinaryReward(log, "Y", 0, 1))
    found, _ = intersect_rules(
        plan, evaluator, log, (0, 10), finder=lambda *_: ([rule.found], ())
    )
    return {arm[0]: bound for (arm, _), bound in found.items()}


def test_an_end_that_its_proof_does_not_sum_to_is_explained_by_the_estimates() -> None:
    """A claim on the whole is no sum of cells; the estimate that it is about is one."""
    proofs = [EndProof(frozenset("Y"), value, ()) for value in (0.4, 0.5)]
    own, plug_in = (
        Ends(np.full(2, 0.45 + i / 20), np.ones(2), None, lambda *_, proof=proof: proof)
        for i, proof in enumerate(proofs)
    )
    found, _ = intersect_rules(
        planned(FixedRule("program", plug_in)),
        Evaluator(BinaryReward(COUNTED, "Y", 0, 1)),
        COUNTED,
        (0, 10),
        finder=lambda *_: ([own], ()),
    )

    assert found[("a",), ()].lower_cells == ("0.5",)

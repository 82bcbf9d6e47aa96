"""The paper's rules as printed (Theorems 3 and 4) and its two biased estimates."""

from collections.abc import Sequence

import numpy as np
import pytest

from boundit.bounds.chain import Run
from boundit.bounds.evidence import Counts, Evidence, Probabilities
from boundit.bounds.paper import (
    PaperRule,
    adjust_for_confounding_only,
    condition_only,
    factorize_effect,
    plan_paper,
)
from boundit.core.interval import Interval
from boundit.counts.formula import Pair
from boundit.counts.memory import Workspace
from boundit.counts.named_array import NamedArray
from boundit.estimand.expression import P
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.environments import make_paper_model, paper_environment
from boundit.simulation.scm import SCM
from tests.bounds.exact import as_log, questions
from tests.nodes import make_nodes
from tests.paper import FIGURE_2

QUERY = parse_query("Y | do(X1, X2), U1, U2")


def gather(graph: CausalGraph, query: EffectQuery, log: NamedArray) -> Evidence:
    """Make evidence of an exact distribution."""
    (outcome,) = query.outcomes
    names = sorted(set(log.axes) - {outcome})
    counts = Counts(as_log(log).count(names, reward=outcome), outcome)
    return Evidence(graph, query, counts, (counts,), Workspace(10**9))


def bound(rule: PaperRule, graph: CausalGraph, log: NamedArray) -> Pair:
    return rule.bound(Run(Probabilities(gather(graph, rule.query, log))))


def names(rules: Sequence[PaperRule]) -> list[str]:
    return [rule.name for rule in rules]


def test_the_worked_example_loses_the_factors_of_the_outcome_and_of_u1() -> None:
    """Eq. 11, with I1 where it belongs: Q[I1, Y] and Q[U1] are lost, Q[U2] is not."""
    (rule,), notes = plan_paper(FIGURE_2, QUERY)

    assert rule.name == "c-factor bound"
    assert (rule.n_unknown, rule.variables) == (2, ("I1",))
    assert str(rule.reason.claim).count("[0 to 1]") == 2
    assert {"U2", "I1"} <= rule.needs
    assert rule.rank({"U1": 2, "U2": 2}) == (2, 4 + 2)
    assert rule.count_cells(dict.fromkeys(("X1", "X2", "U1", "U2"), 2)) == 16
    assert [note.split()[1] for note in notes] == ["profile", "P(context)"]


def test_the_context_is_read_from_a_table_that_has_it() -> None:
    (rule,), notes = plan_paper(FIGURE_2, QUERY, [make_nodes("U1", "U2")])

    assert str(rule.reason.claim).endswith("/ P(U1, U2)")
    assert len(notes) == 1


def test_a_sum_of_recovered_factors_is_the_effect() -> None:
    """Theorem 2, eq. 4: the front door, where every factor is recovered."""
    model = SCM.of(
        {
            "U": ([], 0.5),
            "X": (["U"], [0.2, 0.8]),
            "M": (["X"], [0.3, 0.6]),
            "Y": (["M", "U"], [[0.1, 0.5], [0.4, 0.9]]),
        },
        hidden="U",
    )
    rule = factorize_effect(model.graph, parse_query("Y | do(X)"), None)
    low, high = bound(rule, model.graph, model.distribution())
    truth = model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values

    assert low == pytest.approx(truth)
    assert high == pytest.approx(truth)
    assert rule.n_unknown == 0
    assert not rule.is_identified


def test_a_lost_factor_makes_the_lower_endpoint_0_and_the_sum_is_clipped() -> None:
    """Theorem 3: the sum counts 1 for each value of M and would pass 1."""
    model = SCM(
        parse("X -> M -> Y; M -> [S]"),
        {
            "X": ([], 0.5),
            "M": (["X"], [0.3, 0.6]),
            "Y": (["M"], [0.7, 0.9]),
            "S": (["M"], [0.2, 0.7]),
        },
    )
    rule = factorize_effect(model.graph, parse_query("Y | do(X)"), None)
    low, high = bound(rule, model.graph, model.log())

    assert low.tolist() == [0, 0]
    assert high.tolist() == [1, 1]


def test_what_is_divided_by_a_context_without_rows_is_unknown() -> None:
    model = SCM.of({"C": ([], [1.0, 0.0]), "Y": ([], 0.4), "X": ([], 0.5)})
    rule = factorize_effect(model.graph, parse_query("Y | do(X), C"), P(make_nodes("C")))
    low, high = bound(rule, model.graph, model.distribution())

    assert low[:, 0] == pytest.approx(0.4)
    assert (low[:, 1].tolist(), high[:, 1].tolist()) == ([0, 0], [1, 1])


def test_the_printed_theorem_misses_without_its_condition() -> None:
    """Theorem 4: Y says whether W is as Z was; by hand W is as likely wrong as right."""
    model = SCM.of(
        {
            "X": ([], 0.5),
            "Z": ([], 0.5),
            "W": (["Z"], [0.1, 0.9]),
            "Y": (["W", "Z"], [[1.0, 0.0], [0.0, 1.0]]),
        }
    )
    query = parse_query("Y | do(X)")
    rules, _ = plan_paper(model.graph, query)
    found = {rule.name: rule for rule in rules}
    claim = str(found["substitute W"].reason.claim)
    low, high = bound(found["substitute W"], model.graph, model.distribution())

    assert "lies between min/max over W of" in claim
    assert low == pytest.approx(0.5)
    assert high == pytest.approx(0.5)  # the true effect is 0.9


def test_a_context_divides_by_its_probability() -> None:
    model = SCM.of(
        {"C": ([], 0.3), "X": ([], 0.5), "Y": (["X", "C"], [[0.1, 0.4], [0.5, 0.9]])}
    )
    rules, notes = plan_paper(model.graph, parse_query("Y | do(X), C"))
    ends = [bound(rule, model.graph, model.distribution()) for rule in rules]

    assert names(rules) == ["c-factor bound", "adjustment"]
    for end in (*ends[0], *ends[1]):
        assert end == pytest.approx(np.array([[0.1, 0.4], [0.5, 0.9]]))
    assert all(str(rule.reason.claim).endswith("/ P(C)") for rule in rules)
    assert len(notes) == 1


def test_what_adjusts_is_right_and_theorem_3_never_misses_without_selection() -> None:
    """On random models: Theorem 3 always holds, and the empty substitute is an adjustment."""
    n_adjusted = n_informative = 0
    for asked in questions(60, 4, selection=False):
        model, query = asked.model, asked.query
        rules, _ = plan_paper(model.graph, query)
        found = {rule.name: bound(rule, model.graph, model.log()) for rule in rules}
        truth = asked.truth()
        low, high = found["c-factor bound"]
        assert (low <= truth + 1e-9).all()
        assert (truth <= high + 1e-9).all()
        n_informative += bool((high - low < 1).any())
        if "adjustment" in found:
            assert found["adjustment"][0] == pytest.approx(truth)
            n_adjusted += 1
    assert min(n_adjusted, n_informative) > 10


def test_cp_is_the_logged_mean_of_each_arm_in_each_context() -> None:
    """Appendix, Table 1, column CP, from the printed probabilities."""
    world = paper_environment()
    table = condition_only(world.graph, world.query, world.exact_log())
    axes = ("X1", "X2", "U1", "U2")
    logged = make_paper_model().log().marginalize((*axes, "Y"))
    means = logged.condition_on(axes).at({"Y": 1}).align(axes)

    for (arm, context), row in table.bounds.items():
        assert row.lower == row.upper == pytest.approx(float(means[arm + context]))  # type: ignore[index]
    assert table.bounds[(0, 0), (0, 0)].lower == pytest.approx(0.344235, abs=5e-7)
    assert table.caveats == (
        "critical: this is a biased estimate, not a bound: neither bias is corrected",
    )
    assert list(table.rules) == [table.profile] == ["condition only"]


def test_biased_is_the_back_door_formula_on_the_logged_rows() -> None:
    """Eq. 2 as if every row had been logged; the context plays no part."""
    world = paper_environment()
    table = adjust_for_confounding_only(world.graph, world.query, world.exact_log())
    law = make_paper_model().log()
    inner = (
        law.marginalize(("X1", "X2", "U1", "Y")).condition_on(("X1", "X2", "U1")).at({"Y": 1})
    )
    expected = (inner.align(("X1", "X2", "U1")) * law.marginalize("U1").values).sum(axis=-1)

    for (arm, _), row in table.bounds.items():
        assert row.lower == pytest.approx(expected[arm])
    assert expected[0, 0] == pytest.approx(0.418251, abs=5e-7)
    assert "selection is not corrected" in table.caveats[0]


def test_without_a_formula_or_rows_the_whole_range_is_left() -> None:
    hidden = parse("X -> Y; X <-> Y")
    table = adjust_for_confounding_only(hidden, "Y | do(X)", {"X": [0, 1], "Y": [0, 1]})
    rows = {"X": [0, 1, 1], "C": [0, 0, 1], "Y": [1, 1, 0]}

    assert table[0, ()] == Interval(0, 1)
    assert condition_only("C -> Y; X -> Y", "Y | do(X), C", rows)[0, 1] == Interval(0, 1)


def test_numbers_keep_their_range() -> None:
    rows = {"X": [0, 0, 1], "Y": [10.0, 20.0, 12.5]}
    table = condition_only("X -> Y", "Y | do(X)", rows, outcome_range=(10, 20))

    assert table[0, ()] == Interval(15, 15)
    assert table[1, ()] == Interval(12.5, 12.5)

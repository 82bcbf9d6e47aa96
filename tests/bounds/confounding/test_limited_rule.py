"""Bounds under a limit on hidden confounding: models inside them, and models at their ends."""

from typing import Any

import numpy as np
import pytest

from boundit.bounds.confounding.limited_rule import LimitedConfounding
from boundit.bounds.confounding.limits import ConfoundingLimits
from boundit.bounds.derive import derive_bounds
from boundit.bounds.plan import plan_bounds
from boundit.bounds.selection_facts import FactsRefuted
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.terms.bound_table import BoundTable
from boundit_research.audits.limits import measure_limit
from tests.bounds.exact import as_log

BOW = parse("X -> Y; X <-> Y")


def attain_upper(e: float, q: float, limit: float) -> Model:
    """The model at the upper end of arm 1: the unseen cause is what that arm would earn."""
    commoner = min(limit, (1 - (1 - q) / limit) / q)
    rarer = (1 - q * commoner) / (1 - q)
    weights = 1 + (1 / e - 1) * np.array([rarer, commoner])
    return Model(
        BOW,
        {
            "X<->Y": ([], float(e * q * weights[1])),
            "X": (["X<->Y"], (1 / weights).tolist()),
            "Y": (["X", "X<->Y"], [[0.3, 0.3], [0.0, 1.0]]),
        },
    )


def bound_bow(model: Model, limit: float) -> BoundTable:
    limits = {"X <-> Y": limit}
    return derive_bounds(
        BOW, "Y | do(X)", as_log(model.log()), confidence=None, confounding_limit=limits
    )


def test_a_model_that_keeps_to_the_limit_is_at_the_end() -> None:
    """Sharp: no smaller upper end would hold. Both branches of the closed form."""
    rng = np.random.default_rng(0)
    for _ in range(25):
        e, q, limit = rng.uniform(0.1, 0.9), rng.uniform(0.05, 0.95), 1 + rng.exponential(1.5)
        model = attain_upper(e, q, limit)
        truth = model.effect(outcomes="Y", treatments="X").at({"X": 1, "Y": 1})

        assert measure_limit(model, "X", "Y") <= limit * (1 + 1e-6)
        assert bound_bow(model, limit)[1, ()].upper == pytest.approx(float(truth), abs=1e-9)


def test_limits_between_one_and_none_lead_from_the_mean_to_natural_bounds() -> None:
    model = attain_upper(0.4, 0.3, 3)
    law = model.log().align(("X", "Y"))
    q = law[1, 1] / law[1].sum()

    one, huge = bound_bow(model, 1), bound_bow(model, 1e9)

    assert [one[1, ()].lower, one[1, ()].upper] == pytest.approx([q, q])
    assert huge[1, ()].lower == pytest.approx(law[1, 1])
    assert huge[1, ()].upper == pytest.approx(1 - law[1, 0])
    widths = [bound_bow(model, limit)[1, ()].width for limit in (1, 1.2, 2, 5, 50)]
    assert widths == sorted(widths)


def test_an_arm_that_nobody_gets_has_no_bound_and_one_that_never_earns_is_not_zero() -> None:
    """No bound at e = 0. An empirical q = 0 is not taken for the truth."""
    rows = {"X": [0] * 50 + [1] * 50, "Y": [0, 1] * 25 + [0] * 50}
    table = derive_bounds(
        BOW, "Y | do(X)", rows, domain={"X": [0, 1, 2]}, confounding_limit={"X <-> Y": 2}
    )

    assert (table[2, ()].lower, table[2, ()].upper) == (0, 1)
    assert 0.1 < table[1, ()].upper < 0.5


def test_the_table_carries_the_limits_and_explains_them() -> None:
    table = bound_bow(attain_upper(0.4, 0.3, 2), 2)
    said = table.explain(1, ())

    assert table.confounding_limit == {"X <-> Y": 2.0}
    assert BoundTable.from_record(table.record()).confounding_limit == {"X <-> Y": 2.0}
    assert table.bounds[(1,), ()].upper_rule == "limit 2 on X <-> Y"
    assert (
        "P(Y | do(X)) is P(X) x P(Y | X) + (1 - P(X)) x (that of those with another X), where "
        "each Y is between 1/2 and 2 times as common among those with another X as among those "
        "with it, given that the unseen cause in X <-> Y moves the odds of each X by a factor "
        "of at most 2"
    ) in said
    assert "chance of X 0.4, mean with the arm 0.3" in said
    assert "without X <-> Y, X and Y are separated once the arrows out of X are cut" in said


def test_a_limit_that_the_log_contradicts_is_blamed() -> None:
    """The law of an instrument refutes that there is hardly any confounding."""
    graph = parse("Z -> X -> Y; X <-> Y")
    tables: dict[str, Any] = {
        "X<->Y": ([], 0.5),
        "Z": ([], 0.5),
        "X": (["Z", "X<->Y"], [[0.0, 0.5], [0.98, 1.0]]),
        "Y": (["X", "X<->Y"], [[0.05, 0.95], [0.05, 0.95]]),
    }
    log = as_log(Model(graph, tables).log())

    with pytest.raises(FactsRefuted, match="moves the odds of each X by a factor of at most 1"):
        derive_bounds(
            graph, "Y | do(X)", log, confidence=None, confounding_limit={"X <-> Y": 1}
        )


def test_two_treatments_are_taken_one_after_another() -> None:
    """Both limited; and one of them without a limit, about which nothing is assumed."""
    graph = parse("A -> Y; B -> Y; A <-> Y; B <-> Y")
    query = parse_query("Y | do(A, B)")
    rng, widths = np.random.default_rng(5), []
    for _ in range(15):
        model = draw_model(graph, rng, levels=(2,))
        limits = {f"{x} <-> Y": measure_limit(model, x, "Y") for x in "AB"}
        truth = model.effect(outcomes="Y", treatments=("A", "B")).at({"Y": 1})
        both, one = (
            derive_bounds(
                graph, query, as_log(model.log()), confidence=None, confounding_limit=some
            )
            for some in (limits, {"A <-> Y": limits["A <-> Y"]})
        )
        for arm in both.arms:
            value = float(truth.at({"A": arm[0], "B": arm[1]}))  # type: ignore[dict-item]
            assert both[arm, ()].lower - 1e-9 <= value <= both[arm, ()].upper + 1e-9
            assert one[arm, ()].lower <= both[arm, ()].lower + 1e-9
            widths.append((both[arm, ()].width, one[arm, ()].width))
    assert np.mean(widths, axis=0)[0] < np.mean(widths, axis=0)[1] < 0.99
    plan = plan_bounds(graph, query, limits=ConfoundingLimits.from_option(limits, graph))
    (rule,) = (p.rule for p in plan.rules if isinstance(p.rule, LimitedConfounding))
    assert [each.name for each in rule.taken] == ["A", "B"]
    assert len(rule.confounding_limits) == 2


def test_a_limit_inside_a_chain_bounds_the_reward_at_its_end() -> None:
    """X and W confounded, the reward after W: the values are its means at the levels of W."""
    graph = parse("X -> W -> Y; X <-> W")
    rng, narrower = np.random.default_rng(2), 0
    for _ in range(10):
        model = draw_model(graph, rng, levels=(2, 3), binary=["Y"])
        limits = {"W <-> X": measure_limit(model, "X", "W")}
        log, truth = as_log(model.log()), model.effect(outcomes="Y", treatments="X")
        table = derive_bounds(
            graph, "Y | do(X)", log, confidence=None, confounding_limit=limits
        )
        plain = derive_bounds(graph, "Y | do(X)", log, confidence=None)
        for (x,) in table.arms:
            value = float(truth.at({"X": x, "Y": 1}))  # type: ignore[dict-item]
            assert table[x, ()].lower - 1e-9 <= value <= table[x, ()].upper + 1e-9
            narrower += table[x, ()].width < plain[x, ()].width - 1e-6
    assert narrower > 10


def test_a_selected_log_is_reweighted_first_and_said_to_be_not_sharp() -> None:
    graph = parse("X -> Y; X <-> Y; Y -> [S]")
    rng, narrower = np.random.default_rng(4), 0
    for _ in range(6):
        model = draw_model(graph, rng, levels=(2,))
        limits = {"X <-> Y": measure_limit(model, "X", "Y")}
        truth = model.effect(outcomes="Y", treatments="X")
        table, plain = (
            derive_bounds(
                graph,
                "Y | do(X)",
                as_log(model.log()),
                confidence=None,
                selection_rate=model.selection_rate(),
                confounding_limit=some,
            )
            for some in (limits, None)
        )
        for (x,) in table.arms:
            value = float(truth.at({"X": x, "Y": 1}))  # type: ignore[dict-item]
            assert table[x, ()].lower - 1e-6 <= value <= table[x, ()].upper + 1e-6
            narrower += table[x, ()].width < plain[x, ()].width - 1e-6
    assert narrower
    shown = " ".join(str(record.claim) for record in table.rules.values())
    assert "(each law bounded by itself, so not sharp)" in shown


def test_the_worst_level_counts_of_a_covariate_whose_law_selection_hides() -> None:
    """Nothing is known of selection; within each Z the closed form, then the worst Z."""
    graph = parse("Z -> X; Z -> Y; X -> Y; X <-> Y; Z -> [S]")
    rng, narrower = np.random.default_rng(8), 0
    for _ in range(8):
        model = draw_model(graph, rng, levels=(2,))
        limit = measure_limit(model, "X", "Y")
        table, plain = (
            derive_bounds(
                graph, "Y | do(X)", as_log(model.log()), confidence=None, confounding_limit=some
            )
            for some in ({"X <-> Y": limit}, None)
        )
        law = model.law(("Z", "X", "Y")).align(("Z", "X", "Y"))
        truth = model.effect(outcomes="Y", treatments="X")
        for x in (0, 1):
            e = law[:, x].sum(axis=1) / law.sum(axis=(1, 2))
            q = law[:, x, 1] / law[:, x].sum(axis=1)
            ends = [
                np.minimum(p * (e + (1 - e) * limit), 1 - (1 - p) * (e + (1 - e) / limit))
                for p in (1 - q, q)
            ]
            found = table[x, ()]
            assert found.upper == pytest.approx(ends[1].max(), abs=1e-9)
            assert found.lower == pytest.approx((1 - ends[0]).min(), abs=1e-9)
            assert float(truth.at({"X": x, "Y": 1})) in found
            narrower += found.width < plain[x, ()].width - 1e-6
    assert narrower > 8
    (name,) = (name for name in table.rules if name.startswith("limit"))
    assert name.endswith("on X <-> Y, given Z, unknown Z")
    assert "min/max over Z" in str(table.rules[name].claim)


def test_facts_about_selection_never_widen_what_a_limit_allows() -> None:
    graph = parse("Z -> X; Z -> Y; X -> Y; X <-> Y; Z -> [S]")
    model = draw_model(graph, np.random.default_rng(9), levels=(2,))
    open_, stated = (
        derive_bounds(
            graph,
            "Y | do(X)",
            as_log(model.log()),
            confidence=None,
            confounding_limit={"X <-> Y": 1.5},
            selection_rate=rate,
        )
        for rate in (None, (0.01, 1.0))
    )

    for x in (0, 1):
        assert stated[x, ()].lower >= open_[x, ()].lower - 1e-9
        assert stated[x, ()].upper <= open_[x, ()].upper + 1e-9

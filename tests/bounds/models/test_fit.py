from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

import boundit as bd
from boundit.bounds.models.estimators import BadEstimator
from boundit.bounds.models.rule import NAME
from boundit.bounds.request import NoConfidence
from boundit.core.errors import OptionError
from tests.bounds.models.examples import BACK_DOOR, SATURATED, Constant, draw_back_door

Rows = dict[str, Any]


def bound(rows: Rows, graph: str = BACK_DOOR, query: str = "Y | do(X)", **options: Any) -> Any:
    given: dict[str, Any] = {"inference": "approximate", "models": SATURATED} | options
    return bd.derive_bounds(graph, query, rows, **given)


def draw_numbers(n: int, seed: int = 0) -> tuple[Rows, NDArray[np.float64]]:
    """Rows with two numbers that steer both the arm and the reward, and the true means."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    x = (rng.random(n) < 1 / (1 + np.exp(-a))).astype(int)
    chance = [1 / (1 + np.exp(-(0.8 * a + 0.3 * b + 0.5 * arm))) for arm in range(2)]
    y = (rng.random(n) < np.where(x, chance[1], chance[0])).astype(int)
    return {"A": a, "B": b, "X": x, "Y": y}, np.array([of.mean() for of in chance])


NUMBERS = "Z = {A, B}; Z -> X; Z -> Y; X -> Y"


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_with_saturated_models_it_agrees_with_approximate_inference(
    seed: int, n_strata: int
) -> None:
    rows, _ = draw_back_door(4_000, seed, n_strata=n_strata)
    modelled, counted = bound(rows), bound(rows, models=None)

    for key, found in modelled.bounds.items():
        plain = counted.bounds[key]
        width = plain.upper - plain.lower
        assert found.lower_rule == NAME
        assert found.lower_estimate == pytest.approx(plain.lower_estimate, abs=width / 8)
        assert found.lower == pytest.approx(plain.lower, abs=width / 8)
        assert found.upper == pytest.approx(plain.upper, abs=width / 8)


@pytest.mark.full
def test_numbers_need_no_bins() -> None:
    rows, truth = draw_numbers(4_000)
    for kind in ("linear", "boosting"):
        table = bound(rows, NUMBERS, models=kind)
        for arm in range(2):
            interval = table[arm, ()]
            assert interval.lower <= truth[arm] <= interval.upper
            assert interval.upper - interval.lower < 0.08
    naive = [rows["Y"][rows["X"] == arm].mean() for arm in range(2)]
    assert not any(table[arm, ()].lower <= naive[arm] <= table[arm, ()].upper for arm in (0, 1))


def test_the_reasons_say_which_rule_which_models_and_how_many_rows() -> None:
    rows, _ = draw_numbers(2_000)
    table = bound(rows, NUMBERS, models="linear")
    said = " ".join(str(table.explain(1)).split())

    assert "P(Y | do(X)) is Σ_{A, B} P(A, B) P(Y | A, B, X)" in said
    assert "adjusted for A, B, with shares of the log" in said
    assert "reward by LogisticRegression, arm by LogisticRegression; 2,000 rows in 5" in said
    assert "mean of what models predict" in said
    assert "the fitted models come near the truth" in table.summary()
    assert table.models.startswith("reward by LogisticRegression")
    assert any("A, B are numbers that models alone read" in of for of in table.caveats)


def test_a_limit_on_an_edge_is_not_stretched_over_hidden_numbers() -> None:
    """With ``A`` hidden, ``X <-> Y`` would stand for A too, of which the limit says nothing."""
    rows, truth = draw_numbers(4_000)
    graph = "A -> X -> Y; A -> Y; X <-> Y"
    table = bound(rows, graph, models="linear", confounding_limit={"X <-> Y": 1.01})

    for arm in range(2):
        assert table[arm, ()].lower <= truth[arm] <= table[arm, ()].upper
        assert table[arm, ()].upper - table[arm, ()].lower > 0.3


def test_a_table_with_models_comes_back_from_its_file(tmp_path: Any) -> None:
    rows, _ = draw_numbers(1_000)
    table = bound(rows, NUMBERS, models="linear")
    table.save(tmp_path / "bounds.json")
    plain = bound({"X": rows["X"], "Y": rows["Y"]}, "X -> Y", models=None)

    assert bd.BoundTable.load(tmp_path / "bounds.json").models == table.models
    assert "models" not in plain.record()
    assert bd.BoundTable.from_record(plain.record()).models == ""


def test_the_order_of_rows_and_the_engine_do_not_matter() -> None:
    polars = pytest.importorskip("polars")
    rows, _ = draw_numbers(1_000)
    order = np.random.default_rng(1).permutation(1_000)
    turned = {name: values[order] for name, values in rows.items()}
    first, second, third = (
        bound(of, NUMBERS, models="linear").rows()
        for of in (rows, turned, polars.DataFrame(turned))
    )

    assert first == second == third


def test_a_seed_draws_the_folds() -> None:
    rows, _ = draw_numbers(1_000)
    one, again, other = (
        bound(rows, NUMBERS, models=bd.Models(kind="linear", seed=seed)).rows()
        for seed in (1, 1, 2)
    )

    assert one == again != other


def test_contexts_stay_in_the_query() -> None:
    rng = np.random.default_rng(0)
    rows, _ = draw_numbers(6_000)
    rows["C"] = np.where(rng.random(6_000) < 0.5, "new", "old")
    more = rng.random(6_000) < 0.3 * (rows["C"] == "old")
    rows["Y"] = np.maximum(rows["Y"], more)
    table = bound(
        rows,
        "Z = {A, B}; Z -> X; Z -> Y; X -> Y; C -> Y; C -> X",
        "Y | do(X), C",
        models="linear",
    )

    assert table.contexts == (("new",), ("old",))
    for arm in (0, 1):
        assert table[arm, "new"].upper < table[arm, "old"].lower


def test_a_numeric_reward_keeps_its_range() -> None:
    rng = np.random.default_rng(2)
    rows, truth = draw_numbers(4_000)
    rows["Y"] = 10.0 + 5 * np.clip(0.8 * rows["Y"] + 0.2 * rng.random(4_000), 0, 1)
    table = bound(rows, NUMBERS, models="linear", outcome_range=(10, 15))
    for arm in range(2):
        wanted = 10 + 5 * (0.8 * truth[arm] + 0.1)
        assert table[arm, ()].lower <= wanted <= table[arm, ()].upper
    assert "Ridge" in table.models


def test_clusters_widen_what_repeats() -> None:
    rows, _ = draw_back_door(1_000, 3)
    again = {name: np.repeat(values, 4) for name, values in rows.items()}
    again["user"] = np.repeat(np.arange(1_000), 4)
    once, together = bound(rows), bound(again, cluster="user")
    naive = bound({name: again[name] for name in rows})

    for arm in (0, 1):
        width, clustered, narrow = (
            of[arm, ()].upper - of[arm, ()].lower for of in (once, together, naive)
        )
        assert clustered == pytest.approx(width, rel=0.1)
        assert narrow == pytest.approx(width / 2, rel=0.1)


def test_an_external_table_supplies_what_selection_took() -> None:
    """``Z -> [S]``: the log has other shares of Z than the population."""
    rows, truth = draw_back_door(40_000, 5)
    kept = np.random.default_rng(0).random(40_000) < np.array([0.9, 0.1, 0.5, 0.2])[rows["Z"]]
    log = {name: values[kept] for name, values in rows.items()}
    survey = {"Z": np.random.default_rng(9).choice(rows["Z"], 8_000)}
    graph = f"{BACK_DOOR}; Z -> [S]"
    table = bound(log, graph, external=[survey])
    alone = bound(log, graph)

    for arm in (0, 1):
        assert table.bounds[(arm,), ()].lower_rule == NAME
        assert table[arm, ()].lower <= truth[arm] <= table[arm, ()].upper
    assert "shares of an external table" in " ".join(str(table.explain(1)).split())
    assert "external table by CellMeans" in table.models
    assert alone.models == ""
    assert any("no covariates in the log adjust" in of for of in alone.caveats)


def test_nulls_that_models_do_not_read_cost_no_rows_of_an_external_table() -> None:
    """Rewards of the survey are missing where ``A`` is small: dropped, they would bias."""
    rows, truth = draw_numbers(40_000)
    rng = np.random.default_rng(1)
    kept = rng.random(40_000) < 1 / (1 + np.exp(-2 * rows["A"]))
    log = {name: values[kept][:6_000] for name, values in rows.items()}
    survey = {name: values[:4_000] for name, values in rows.items()}
    survey["Y"] = np.where(survey["A"] < 0, np.nan, survey["Y"])
    survey["X"] = np.where(survey["A"] < -1, np.nan, survey["X"])
    graph = f"{NUMBERS}; A -> [S]"
    table, alone = (
        bound(log, graph, models="linear", external=[of])
        for of in (survey, {name: survey[name] for name in "AB"})
    )

    for arm in (0, 1):
        assert table.bounds[(arm,), ()].lower_rule == NAME
        assert table[arm, ()].lower <= truth[arm] <= table[arm, ()].upper
        assert table[arm, ()] == alone[arm, ()]


def test_a_caveat_comes_once() -> None:
    rows, _ = draw_numbers(1_000)
    rows["X"] = np.where(np.arange(1_000) % 10 == 0, np.nan, rows["X"])
    table = bound(rows, NUMBERS, models="linear")

    assert sum("X (100)" in of for of in table.caveats) == 1
    assert len(set(table.caveats)) == len(table.caveats)


def test_a_model_of_no_external_table_has_no_say() -> None:
    rows, _ = draw_back_door(1_000, 0)
    said = "no external table supplies shares; the model of the external table in models"
    plain = bound(rows, models=bd.Models(reward=Constant(), arm=Constant()))

    assert f"skipped: {said} was not used" in bound(rows).caveats
    assert not any(said in of for of in plain.caveats)


def test_where_an_arm_cannot_be_chosen_its_reward_may_be_anything() -> None:
    rows, _ = draw_back_door(6_000, 7, n_strata=3)
    rows["X"] = np.where(rows["Z"] == 0, 0, rows["X"])
    share = float((rows["Z"] == 0).mean())
    table = bound(rows)
    found = table.bounds[(1,), ()]

    assert found.upper_estimate - found.lower_estimate == pytest.approx(share, abs=0.005)
    assert any("hardly ever chosen" in of for of in table.caveats)
    assert "where the arm is too rare" in " ".join(str(table.explain(1)).split())


def test_wrong_models_do_not_overrule_the_other_rules() -> None:
    """Both models know nothing, so that the naive means come out; the strata say otherwise."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 20_000)
    x = (rng.random(20_000) < 0.1 + 0.8 * z).astype(int)
    y = (rng.random(20_000) < 0.1 + 0.8 * z).astype(int)
    wrong = bd.Models(reward=Constant(), arm=Constant())
    table = bound({"Z": z, "X": x, "Y": y}, models=wrong)

    for arm in (0, 1):
        assert table[arm, ()].lower <= 0.5 <= table[arm, ()].upper
        assert table.bounds[(arm,), ()].lower_rule != NAME
    assert any("the models deserve no trust" in of for of in table.caveats)


def test_fifteen_covariates_are_no_miracle() -> None:
    rng = np.random.default_rng(0)
    n, names = 5_000, [f"Z{i}" for i in range(15)]
    z = rng.normal(size=(15, n))
    x = (rng.random(n) < 1 / (1 + np.exp(-z[:5].sum(axis=0) / 3))).astype(int)
    y = (rng.random(n) < 1 / (1 + np.exp(-z[3:8].sum(axis=0) / 3 - 0.5 * x))).astype(int)
    rows = dict(zip(names, z, strict=True)) | {"X": x, "Y": y}
    graph = f"Z = {{{', '.join(names)}}}; Z -> X; Z -> Y; X -> Y"
    table = bound(rows, graph, models="linear")

    for arm in (0, 1):
        truth = (1 / (1 + np.exp(-z[3:8].sum(axis=0) / 3 - 0.5 * arm))).mean()
        assert table[arm, ()].lower <= truth <= table[arm, ()].upper
        assert table[arm, ()].upper - table[arm, ()].lower < 0.1


def test_without_covariates_models_have_no_say() -> None:
    rows, _ = draw_back_door(1_000, 0)
    table = bound({"X": rows["X"], "Y": rows["Y"]}, "X -> Y")
    plain = bound({"X": rows["X"], "Y": rows["Y"]}, "X -> Y", models=None)

    assert table.rows() == plain.rows()
    assert "skipped: this effect needs no covariates; models was not used" in table.caveats


def test_what_memory_or_time_has_no_room_for_is_left_out() -> None:
    rows, _ = draw_numbers(3_000)
    small = bound(rows, NUMBERS, models="linear", memory_limit="1 MB")
    late = bound(rows, NUMBERS, models="linear", time_limit=0)

    assert "skipped: 'adjustment by models' was left out; raise memory_limit" in small.caveats
    assert "skipped: 'adjustment by models' was left out; raise time_limit" in late.caveats


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"inference": "exact"}, OptionError, "pass inference='approximate'"),
        ({"profile": "paper"}, OptionError, "profile='paper' knows no models"),
        ({"confidence": None}, NoConfidence, "allows for sampling error"),
        ({"models": "magic"}, OptionError, "no 'magic' models"),
        ({"models": bd.Models(arm=LinearRegression())}, BadEstimator, "no predict_proba"),
    ],
)
def test_what_does_not_go_with_models_is_refused(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    rows, _ = draw_back_door(200, 0)
    with pytest.raises(error) as caught:
        bound(rows, **options)
    assert said in str(caught.value)


def test_logs_of_a_learning_policy_and_exact_laws_are_refused() -> None:
    rows, _ = draw_back_door(200, 0)
    law = {"Z": [0, 0, 1, 1], "X": [0, 1, 0, 1], "Y": [0, 1, 0, 1], "p": [0.25] * 4}
    with pytest.raises(NoConfidence, match="learning policy"):
        bound(bd.read_log(rows, adaptive=True))  # type: ignore[arg-type]
    exact = bd.read_log(law, weight="p", exact=True)
    with pytest.raises(OptionError, match="an exact law has no rows to fit models on"):
        bound(exact, external=[{"Z": [0, 1]}])  # type: ignore[arg-type]

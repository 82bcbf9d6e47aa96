"""Environments against their models, numeric outcomes, and files."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundit.bounds.request import NotABanditQuestion
from boundit.core.errors import (
    BounditError,
    OutsideDomain,
    UnknownNode,
    UnreadableFile,
    WrongLength,
)
from boundit.simulation.environment import Environment, read_environment, share_out
from boundit.simulation.environments import (
    make_paper_model,
    paper_environment,
    random_environment,
)
from boundit.simulation.errors import InvalidEnvironment, InvalidModel
from boundit.simulation.scm import SCM

PAPER = paper_environment()
LEVELS = {"X1": ("a", "b"), "U2": ("old", "young"), "I1": ("no", "yes")}


def make_numeric() -> Environment:
    """An outcome of three values that are not in order, with an auxiliary variable."""

    def reward(x: int, w: int, u: int) -> list[float]:
        return [0.2 + 0.1 * x, 0.5 - 0.2 * w + 0.05 * u, 0.3 - 0.1 * x + 0.2 * w - 0.05 * u]

    tables: dict[str, Any] = {"U": ([], 0.3), "X": ([], 0.5), "W": (["X"], [0.2, 0.7])}
    tables["Y"] = (["X", "W", "U"], reward)
    return Environment(SCM.of(tables), "Y | do(X), U", levels={"Y": (1.0, -2.5, 10.0)})


def test_means_are_the_effects_of_the_model() -> None:
    effect = PAPER.model.effect(outcomes="Y", treatments=("X1", "X2"), context=("U1", "U2"))

    assert len(PAPER.means()) == 16
    for (arm, context), mean in PAPER.means().items():
        place = dict(zip(("X1", "X2", "U1", "U2"), arm + context, strict=True)) | {"Y": 1}
        assert mean == PAPER.mean(arm, context) == float(effect.at(place))


def test_a_drawn_log_repeats_by_its_seed_and_holds_only_logged_rows() -> None:
    one, again = (PAPER.log(1_000, 4).count(["I1"]) for _ in range(2))

    assert np.array_equal(one.n, again.n)
    assert 400 < one.rows < 550  # about 47.6 percent are logged


def test_the_exact_log_has_the_distribution_of_the_log() -> None:
    table = PAPER.exact_log().count(["U1"])

    assert table.exact
    expected = PAPER.model.log().marginalize("U1").values
    assert table.marginalize("U1").values == pytest.approx(expected)


def test_an_expected_table_is_of_everyone_and_has_whole_rows() -> None:
    environment = Environment(PAPER.model, PAPER.query, levels=LEVELS)
    exact, rows = (environment.expected_table(["I1"], n).count(["I1"]) for n in (None, 1_001))
    everyone = PAPER.model.distribution("I1").values

    assert exact.exact
    assert exact.n == pytest.approx(everyone)
    assert rows.levels["I1"] == ("no", "yes")
    assert rows.rows == 1_001
    assert rows.n == pytest.approx(1_001 * everyone, abs=1)
    for n in (1, 7, 10**9):
        found = share_out(np.random.default_rng(0).dirichlet(np.ones(12)), n)
        assert found.sum() == n
        assert np.array_equal(found, found.round())


def test_a_query_that_the_model_cannot_answer_is_refused() -> None:
    with pytest.raises(UnknownNode):
        Environment(make_paper_model(), "Z | do(X1)")
    with pytest.raises(NotABanditQuestion, match="'I1' is an effect of the treatments"):
        Environment(make_paper_model(), "Y | do(X1), I1")
    with pytest.raises(NotABanditQuestion, match="has no treatment"):
        Environment(make_paper_model(), "Y | U1")
    with pytest.raises(WrongLength, match="must have one value each for X1, X2"):
        PAPER.mean((0,), (0, 0))


def test_arms_and_contexts_have_their_means_by_position() -> None:
    environment = random_environment(1, arms=3, contexts=2)
    finite = environment.finite

    assert finite.arms == ((0,), (1,), (2,))
    assert finite.contexts == ((0, 0), (0, 1), (1, 0), (1, 1))
    for i, context in enumerate(finite.contexts):
        for j, arm in enumerate(finite.arms):
            assert finite.means[i, j] == environment.mean(arm, context)
    assert np.array_equal(finite.ends[..., 0], finite.means)
    assert finite.values.tolist() == [1, 0]
    assert environment.shares.sum() == pytest.approx(1)


def test_without_context_variables_there_is_one_context() -> None:
    finite = random_environment(0, arms=2, contexts=0).finite

    assert (finite.contexts, finite.means.shape) == (((),), (1, 2))


def test_a_context_of_probability_0_never_occurs() -> None:
    tables = {
        "U": ([], [0.5, 0.0, 0.5]),
        "X": (["U"], [0.5, 0.5, 0.5]),
        "Y": (["X", "U"], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]),
    }
    finite = Environment(SCM.of(tables), "Y | do(X), U").finite  # type: ignore[arg-type]

    assert finite.contexts == ((0,), (2,))
    assert finite.means == pytest.approx(np.array([[0.1, 0.4], [0.3, 0.6]]))


def test_a_numeric_outcome_has_its_mean_and_its_distribution() -> None:
    """Rewards are drawn from the highest value down; each is as likely as the model says."""
    environment = make_numeric()
    finite = environment.finite
    effect = environment.model.effect(outcomes="Y", treatments="X", context="U")
    values = np.array([1.0, -2.5, 10.0])

    assert finite.values.tolist() == [10.0, 1.0, -2.5]
    assert environment.outcome_range == (-2.5, 10.0)
    for (arm, context), mean in environment.means().items():
        shares = effect.at({"X": arm[0], "U": context[0]}).values
        assert mean == pytest.approx(shares @ values)
        k, c = finite.arms.index(arm), finite.contexts.index(context)
        assert np.diff(finite.ends[c, k], prepend=0) == pytest.approx(shares[[2, 0, 1]])
        drawn = [finite.draw_reward(c, k, u) for u in np.linspace(0, 1, 4000, endpoint=False)]
        assert np.bincount(drawn) / 4000 == pytest.approx(shares[[2, 0, 1]], abs=1e-3)
    log = environment.log(500, seed=1).count(["X"], reward="Y")
    assert (log.lowest.min(), log.highest.max()) == (-2.5, 10.0)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("environment", "shown", "names"),
    [(PAPER, "I1", ("U1", "U2", "X1", "X2")), (make_numeric(), "W", ("U", "X"))],
)
def test_auxiliary_variables_have_the_distribution_of_the_model(
    environment: Environment, shown: str, names: tuple[str, ...]
) -> None:
    """P(w | do(x), c, y) weighted by P(y | do(x), c) is P(w | do(x), c)."""
    finite = environment.show([shown, "elsewhere"])
    side, query = finite.side_observation, environment.query
    assert side is not None
    assert (side.variables, side.levels) == ((shown,), ((0, 1),))
    weights = np.diff(finite.ends, axis=-1, prepend=0.0)
    cells = np.diff(side.ends, axis=-1, prepend=0.0)
    found = (weights[..., None] * cells).sum(axis=2)
    asked = environment.model.effect(
        outcomes=shown, treatments=query.treatments, context=query.context
    )

    expected = asked.align((*names, shown)).reshape(found.shape)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_an_arm_with_a_certain_reward_shows_something_all_the_same() -> None:
    tables = {"X": ([], 0.5), "W": (["X"], [0.2, 0.7]), "Y": (["X", "W"], [[1, 1], [0.5, 1]])}
    environment = Environment(SCM.of(tables), "Y | do(X)")  # type: ignore[arg-type]
    side = environment.show(["W"]).side_observation

    assert side is not None
    assert np.isfinite(side.ends).all()
    assert side.observe(0, 0, 0, 0.79) == {"W": 0}
    assert side.observe(0, 0, 0, 0.81) == {"W": 1}


def test_levels_may_have_the_values_of_a_log() -> None:
    environment = Environment(PAPER.model, PAPER.query, levels=LEVELS)

    assert environment.mean(("b", 0), (1, "old")) == PAPER.mean((1, 0), (1, 0))
    assert environment.means()[("b", 0), (1, "old")] == PAPER.mean((1, 0), (1, 0))
    assert environment.finite.arms[0] == ("a", 0)
    assert environment.finite.contexts[1] == (0, "young")
    assert set(environment.log(50, seed=1).count(["X1"]).levels["X1"]) == {"a", "b"}
    assert environment.exact_log().count(["U2"]).levels["U2"] == ("old", "young")
    shown = environment.show(["I1"]).side_observation
    assert shown is not None
    assert shown.levels == (("no", "yes"),)
    with pytest.raises(OutsideDomain):
        environment.mean(("c", 0), (1, "old"))


@pytest.mark.parametrize("values", [("low", "high"), (0, 10**400), (0, float("nan"))])
def test_a_reward_is_a_number(values: tuple[object, ...]) -> None:
    with pytest.raises(InvalidEnvironment, match=r"The outcome 'Y' has the values .* numbers"):
        Environment(PAPER.model, PAPER.query, levels={"Y": values})


RECORD = {
    "query": "Y | do(X)",
    "selection": "S",
    "hidden": ["C"],
    "tables": {
        "C": [[], 0.5],
        "X": [["C"], [0.2, 0.8]],
        "Y": [["X", "C"], [[0.1, 0.6], [0.3, 0.8]]],
        "S": [["Y"], [0.2, 0.9]],
    },
}


def written(folder: Path, record: object) -> Path:
    path = folder / "shop.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_an_environment_is_read_from_its_tables(tmp_path: Path) -> None:
    found = read_environment(written(tmp_path, RECORD))

    assert (found.name, str(found.graph)) == ("shop", "X -> Y; Y -> [S]; X <-> Y")
    assert list(found.means().values()) == pytest.approx([0.35, 0.55])
    more = {"name": "Shop", "levels": {"Y": [2, 4], "X": ["a", "b"]}}
    named = read_environment(written(tmp_path, RECORD | more))
    assert named.name == "Shop"
    assert named.mean("b") == pytest.approx(3.1)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([], "It needs query and tables"),
        ({"query": "Y | do(X)"}, "It needs query and tables"),
        ({**RECORD, "graph": "X -> Y"}, "It needs query and tables"),
        ({**RECORD, "tables": []}, r"'tables' is \[\]"),
        ({**RECORD, "tables": {"X": 0.5}}, r"table of 'X' is not \[parents, probabilities\]"),
        ({**RECORD, "tables": {"X": ["C", 0.5]}}, "table of 'X' is not"),
        ({**RECORD, "tables": {"X": [[3], 0.5]}}, "Names of variables must be text"),
        ({**RECORD, "hidden": "C"}, "'hidden' is 'C'"),
        ({**RECORD, "selection": ["S"]}, r"'selection' is \['S'\]"),
        ({**RECORD, "query": ["Y"]}, "'query' is"),
        ({**RECORD, "name": None}, "'name' is None"),
        ({**RECORD, "levels": {"Y": 3}}, "a list of values for each variable"),
    ],
)
def test_a_file_of_something_else_is_refused(
    tmp_path: Path, record: object, reason: str
) -> None:
    with pytest.raises(InvalidEnvironment, match=reason):
        read_environment(written(tmp_path, record))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"
    with pytest.raises(UnreadableFile):
        read_environment(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidEnvironment, match="It is not JSON"):
        read_environment(path)
    tables = {**RECORD["tables"], "X": [["C"], [0.2, 1.8]]}  # type: ignore[dict-item]
    with pytest.raises(InvalidModel, match="The table of 'X' at C=1"):
        read_environment(written(tmp_path, {**RECORD, "tables": tables}))


ODD: tuple[object, ...] = (
    *(None, True, 0, -1, 2, 0.5, 1e308, float("nan"), float("inf"), 10**30, 10**400),
    *("", "x", "X", "Y", "S", "\ud800", "Y | X", "do(X)", "Y | do(X), C"),
    *([], {}, [[]], ["Y"], [0.5, 0.5], [1.5, -0.5], {"a": 1}, [["X"], 0.5], [[0.1, 0.2, 0.7]]),
)


def places(record: object, above: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Every way down into a record."""
    inner = record.items() if isinstance(record, dict) else enumerate(record)  # type: ignore[arg-type]
    for key, value in inner:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


def test_whatever_a_file_holds_it_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    """Warnings are errors here, so that none of NumPy's comes through either."""
    rng, read, said = random.Random(0), 0, list[str]()
    record = {**RECORD, "levels": {"X": ["a", "b"], "Y": [0, 2]}}
    for _ in range(600):
        changed = copy.deepcopy(record)
        for _ in range(rng.choice((1, 1, 2))):
            *way, last = rng.choice(list(places(changed)))
            at: object = changed
            for key in way:
                at = at[key]  # type: ignore[index]
            at[last] = copy.deepcopy(rng.choice(ODD))  # type: ignore[index]
        try:
            found = read_environment(written(tmp_path, changed))
            means = found.means()
        except BounditError as error:
            said.append(str(error))
        else:
            read += 1
            assert all(np.isfinite(mean) for mean in means.values())
    assert read > 10
    assert len(said) > 300
    assert not [line for line in said if "\n" in line]

import csv
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vowpalwabbit import LabelType, Workspace

import boundit as bd
from boundit.service.commands import (
    CloseWindows,
    Decide,
    DecideRequest,
    GiveRewards,
    RewardRequest,
)
from boundit.service.engine import Engine
from boundit.service.errors import NoSuchPolicy, Unprocessable
from boundit.service.export import FORMATS, export_log
from boundit.service.store.base import Store
from tests.service.kit import SetClock, decide, make_config, reward, run_engine

GRAPH = "Age -> Ad -> Click; Age -> Click"


def _play(engine: Engine, n: int = 30) -> None:
    for i in range(n):
        decide(engine, f"{i}", i % 3)
        reward(engine, f"{i}", float(i % 3 == 0), observed={"Sky": "ab"[i % 2], "Temp": i})


def _export(engine: Engine, form: str) -> bytes:
    return b"".join(engine.export("ads", form))


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_log_of_the_service_is_a_log_of_boundit_and_known_as_adaptive(
    store: Store, tmp_path: Path, form: str
) -> None:
    with run_engine(store, make_config(explore=0.3)) as engine:
        _play(engine)
        path = tmp_path / f"log.{form}"
        path.write_bytes(_export(engine, form))
    log = bd.read_log(path)
    table = log.count(["Ad", "Age", "Sky"], reward="Click")
    bounds = bd.derive_bounds(GRAPH, "Click | do(Ad), Age", log)

    assert log.adaptive
    assert table.n.sum() == 30
    assert "boundit_adaptive" not in log.columns
    assert {"Temp", "decision_id", "decided_at", "propensity"} <= set(log.columns)
    assert len(bounds.bounds) >= 3
    with pytest.raises(bd.BounditError, match="boundit_adaptive"):
        bd.read_log(path, adaptive=False)


def test_every_row_has_what_was_learned(store: Store, clock: SetClock) -> None:
    config = make_config(window=60.0, shadow=True)
    with run_engine(store, config) as engine:
        decide(engine, "a", 1, played="C", propensity=0.5)
        decide(engine, "b", 2, played="B")
        decide(engine, "not played", 0)
        reward(engine, "a", 0.75)
        clock.move(60)
        engine.run(CloseWindows("ads"))
        rows = list(csv.DictReader(io.StringIO(_export(engine, "csv").decode())))
        lines = [json.loads(line) for line in _export(engine, "jsonl").splitlines()]

    assert [row["Ad"] for row in rows] == ["C", "B"]
    assert [row["Click"] for row in rows] == ["0.75", ""]
    assert [row["propensity"] for row in rows] == ["0.5", ""]
    assert lines[0] == {
        "Age": 1,
        "Ad": "C",
        "Click": 0.75,
        "decision_id": "a",
        "decided_at": "2023-11-14T22:13:20+00:00",
        "propensity": 0.5,
        "boundit_adaptive": 1,
    }
    assert lines[1]["Click"] is None


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "names", [["reward"], ["arm_0"], ["boundit_adaptive"], ["Age", "AGE"], ["Reward", "reward"]]
)
def test_every_column_of_an_export_has_a_name_of_its_own(
    store: Store, tmp_path: Path, names: list[str], form: str
) -> None:
    config = make_config(kind="UCB", bounds=None, arms=["A"], context=names)
    context: dict[str, Any] = {name: f"{i}" for i, name in enumerate(names)}
    with run_engine(store, config) as engine:
        engine.run(Decide("ads", [DecideRequest("a", context)]))
        reward(engine, "a", 1.0)
        path = tmp_path / f"log.{form}"
        path.write_bytes(_export(engine, form))
        log = bd.read_log(path)

    columns = [name for name in log.columns if "decision" not in name and "decided" not in name]
    assert len({name.casefold() for name in columns}) == len(columns) == len(names) + 3
    assert log.adaptive


def test_names_that_are_taken_are_told_apart(store: Store) -> None:
    config = make_config(kind="UCB", bounds=None, arms=["A"], context=["propensity"])
    with run_engine(store, config) as engine:
        engine.run(Decide("ads", [DecideRequest("a", {"propensity": "x"})]))
        reward(engine, "a", 1.0, observed={"reward": 3, "decision_id": 4})
        line = json.loads(_export(engine, "jsonl"))

    assert line["propensity"] == "x"
    assert line["boundit_propensity"] == 1.0
    assert (line["observed_reward"], line["observed_decision_id"]) == (3, 4)
    assert (line["arm_0"], line["reward"], line["decision_id"]) == ("A", 1.0, "a")


def test_dsjson_has_the_arm_played_first_with_its_chance(store: Store) -> None:
    with run_engine(store, make_config(explore=0.3)) as engine:
        _play(engine)
        lines = [json.loads(line) for line in _export(engine, "dsjson").splitlines()]
        found = [engine.get_decision("ads", line["EventId"]) for line in lines]

    assert len(lines) == 30
    for line, view in zip(lines, found, strict=True):
        first = line["a"][0] - 1
        assert line["c"]["_multi"][first]["arm"]["Ad"] == view.decision.arm["Ad"]
        assert line["p"][0] == line["_label_probability"] == view.decision.propensity
        assert sum(line["p"]) == pytest.approx(1)
        assert line["_label_cost"] == -(view.learned_reward or 0)
        assert sorted(line["a"]) == [1, 2, 3]
        assert line["c"]["context"] == {"Age": str(view.decision.context["Age"])}


def test_obp_lines_have_numbers_for_arms_and_contexts(store: Store) -> None:
    with run_engine(store, make_config(explore=0.3)) as engine:
        _play(engine)
        lines = [json.loads(line) for line in _export(engine, "obp").splitlines()]

    assert {line["action"] for line in lines} <= {0, 1, 2}
    assert all(line["pscore"] == line["action_dist"][line["action"]] for line in lines)
    assert all(sum(line["action_dist"]) == pytest.approx(1) for line in lines)
    assert {len(line["context"]) for line in lines} == {1}


def test_vowpal_wabbit_learns_from_the_lines(store: Store) -> None:
    with run_engine(store, make_config(explore=0.9)) as engine:
        for i in range(90):
            found = decide(engine, f"{i}", i % 3)
            reward(engine, f"{i}", float(found.arm["Ad"] == "C"))
        lines = _export(engine, "dsjson").decode().splitlines()
    workspace = Workspace("--cb_explore_adf --dsjson --quiet -q ca")
    for line in lines:
        examples = workspace.parse(line, LabelType.CONTEXTUAL_BANDIT)
        workspace.learn(examples)
        workspace.finish_example(examples)
    examples = workspace.parse(lines[0], LabelType.CONTEXTUAL_BANDIT)
    chances = workspace.predict(examples)
    workspace.finish_example(examples)
    workspace.finish()

    assert max(chances) == chances[2] > 0.9


def test_an_empty_log_has_its_columns(open_store: Callable[[], Store]) -> None:
    with run_engine(open_store(), make_config()) as engine:
        pieces = {form: _export(engine, form) for form in FORMATS}
    assert pieces["csv"].startswith(b"Age,Ad,Click,decision_id")
    assert pieces["jsonl"] == pieces["dsjson"] == b""
    assert pieces["parquet"].startswith(b"PAR1")
    store = open_store()
    with pytest.raises(Unprocessable, match="csv, jsonl"):
        export_log(store, "ads", "xml")
    with pytest.raises(NoSuchPolicy):
        export_log(store, "none", "csv")


@pytest.mark.full
def test_memory_does_not_grow_with_the_log(store: Store) -> None:
    """Pieces are made as they are asked for, of a page of events each."""
    peaks: dict[str, list[int]] = {form: [] for form in FORMATS}
    with run_engine(store, make_config(kind="UCB")) as engine:
        for form in peaks:
            _export(engine, form)  # what is imported at first is not the log's
        for n in (1500, 3000):  # more than one page, then three times as many
            names = [f"{n} {i}" for i in range(n)]
            engine.run(Decide("ads", [DecideRequest(name, {"Age": 1}) for name in names]))
            engine.run(GiveRewards("ads", [RewardRequest(name, 1.0) for name in names]))
            for form, found in peaks.items():
                tracemalloc.start()
                assert max(map(len, engine.export("ads", form))) < 2**18, form
                found.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()

    for form, (small, large) in peaks.items():
        assert large < 1.5 * small, form

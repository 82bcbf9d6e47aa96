import ast
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import boundit as bd
import boundit_research
from boundit.graph.read import GraphFormat
from boundit.results.fused_plan import FusedPlan
from boundit.service import events
from boundit.service.commands import CloseWindows
from boundit.service.errors import DecisionPruned, StoreUnavailable
from boundit.service.keys import list_keys
from boundit.service.store.base import SCHEMA_VERSION
from boundit.service.store.sqlite import FILE_NAME, SqliteStore
from tests.golden.make import (
    FILES,
    FOLDER,
    GRAPH,
    LOGGED,
    POLICIES,
    go_on,
    restore_store,
)
from tests.service.kit import decide, run_engine

SOURCES = (Path(bd.__file__).parent, Path(boundit_research.__file__).parent)


def test_every_present_format_has_a_golden_file() -> None:
    """Who raises a version writes a file of it, and those before stay."""
    written = {found for path in FOLDER.iterdir() for found in read_formats(path)}
    paths = (path for source in SOURCES for path in source.rglob("*.py"))
    present = {found for path in paths for found in find_formats(path)}

    assert set(FILES) <= {path.name for path in FOLDER.iterdir()}
    assert {name for name, _ in present} == {
        "boundit bounds",
        "boundit policy",
        "boundit regret",
        "boundit project",
    }
    assert {*present, ("boundit store", SCHEMA_VERSION)} <= written


def find_formats(path: Path) -> Iterator[tuple[str, int]]:
    """The format that a module of ours names as ``FORMAT``, and its ``VERSION``."""
    text = path.read_text(encoding="utf-8")
    if not re.search(r"^(\w+, )*FORMAT\b.* = ", text, flags=re.MULTILINE):
        return
    found = dict[str, Any]()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            (target,), value = node.targets, node.value
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value.elts if isinstance(value, ast.Tuple) else [value]
            for name, one in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and isinstance(one, ast.Constant):
                    found[name.id] = one.value
    yield split_format(found["FORMAT"], found.get("VERSION"))


def split_format(name: str, version: object) -> tuple[str, int]:
    """A format and its version, which may also be the last word of its name."""
    if isinstance(version, int):
        return name, version
    head, _, last = name.rpartition(" ")
    return head, int(last)


def read_formats(path: Path) -> Iterator[tuple[str, int]]:
    """The formats that a golden file says it has."""
    if path.suffix == ".npz":
        with np.load(path) as parts:
            head = json.loads(parts["head"].tobytes())
        yield head["format"], head["version_of_format"]
    elif path.suffix == ".json":
        yield from list_formats(json.loads(path.read_text(encoding="utf-8")))
    elif path.suffix == ".sql":
        found = re.search(r"VALUES\('schema','(\d+)'\)", path.read_text(encoding="utf-8"))
        assert found is not None
        yield "boundit store", int(found[1])


def list_formats(record: object) -> Iterator[tuple[str, int]]:
    """The formats that a record and its parts say they have."""
    if isinstance(record, dict):
        if str(record.get("format")).startswith("boundit "):
            yield split_format(record["format"], record.get("version"))
        for part in record.values():
            yield from list_formats(part)


def test_a_table_is_read_with_all_that_it_carries() -> None:
    table = bd.BoundTable.load(FOLDER / "bounds_3.json")

    assert table.arms == (("A",), ("B",))
    assert table.bins == {"Age": (30, 50)}
    assert table.confidence == 0.95
    interval = table[("B",), table.contexts[0]]
    assert (interval.lower, interval.upper) == pytest.approx((0.13385, 0.91102), abs=5e-6)
    assert table.effect("A", "B")["< 30"].upper == pytest.approx(0.74395, abs=5e-6)
    assert "selection" in str(table.explain("B", table.contexts[0]))
    assert bd.LinUCB(prior=table).decide({"Age": 41.5}).arm_values in table.arms


def test_a_table_without_counts_has_the_same_intervals() -> None:
    whole, plain = (
        bd.BoundTable.load(FOLDER / name)
        for name in ("bounds_3.json", "bounds_3_without_counts.json")
    )

    assert {key: (one.lower, one.upper) for key, one in whole.bounds.items()} == {
        key: (one.lower, one.upper) for key, one in plain.bounds.items()
    }


def test_a_table_has_a_plan_and_no_contrasts_that_held_one_at_a_time() -> None:
    table = bd.BoundTable.load(FOLDER / "bounds_3_full.json")
    interval = table[(0, 0), (1, 0)]

    assert (interval.lower, interval.upper) == pytest.approx((0.067465, 0.825379), abs=1e-6)
    assert table.contrasts == {}
    assert isinstance(table.pooling, FusedPlan)
    assert bd.Fused(prior=table, seed=1).decide({"U1": 0, "U2": 1}).arm_values in table.arms


def test_a_table_has_effects_of_its_own() -> None:
    table = bd.BoundTable.load(FOLDER / "bounds_4.json")

    assert (len(table.contrasts), len(table.compared)) == (6, 16)
    assert table.effect((0, 0), (0, 1))[0, 0].upper == pytest.approx(0.190, abs=5e-4)
    assert isinstance(table.pooling, FusedPlan)


def test_a_table_has_its_limits_on_confounding() -> None:
    table = bd.BoundTable.load(FOLDER / "bounds_3_limited.json")
    interval = table["A", "older"]

    assert table.confounding_limit == {"X <-> Y": 1.5}
    assert (interval.lower, interval.upper) == pytest.approx((0.246145, 0.665270), abs=1e-6)
    assert "limit 1.5 on X <-> Y" in str(table.explain("A", "older"))


def test_a_table_has_its_models() -> None:
    table = bd.BoundTable.load(FOLDER / "bounds_3_modelled.json")
    interval = table[1, ()]

    assert table.models is not None
    assert "reward by LogisticRegression" in table.models
    assert table.inference == "approximate"
    assert (interval.lower, interval.upper) == pytest.approx((0.557344, 0.669898), abs=1e-6)


@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_goes_on_where_its_state_was_kept(kind: str) -> None:
    kept = json.loads((FOLDER / "policies_4.json").read_text(encoding="utf-8"))[kind]
    policy = POLICIES[kind].from_state(kept["state"])
    for now, before in zip(go_on(policy), kept["next"], strict=True):
        assert now["arm"] == before["arm"]
        for (arm, chance), (same, earlier) in zip(
            _list_chances(now), _list_chances(before), strict=True
        ):
            assert arm == same
            assert chance == pytest.approx(earlier, abs=1e-9)
        again = bd.Decision.from_json(before)
        assert again.id == before["id"]
        assert sum(again.propensities.values()) == pytest.approx(1)


def test_what_release_0_2_0_kept_is_refused_in_a_line_that_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    with pytest.raises(bd.BounditError, match=r"release 0\.2\.0 .*boundit policies export"):
        bd.Policy.load(FOLDER / "policy_3.json")
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
        connection.execute("CREATE TABLE boundit_store (name TEXT PRIMARY KEY, value TEXT)")
        connection.execute("INSERT INTO boundit_store VALUES ('schema', '1')")
    with pytest.raises(StoreUnavailable, match=r"form 1; .*boundit policies export"):
        SqliteStore(tmp_path)


def _list_chances(record: Mapping[str, Any]) -> list[tuple[object, float]]:
    return [(arm, float(chance)) for arm, chance in record["propensities"]]


def test_a_simulation_is_read() -> None:
    regret = bd.simulation.Regret.load(FOLDER / "regret_2.npz")

    assert set(regret.policies) == {"TS", "UCB"}
    assert np.isfinite(regret.curves).all()


@pytest.mark.parametrize("name", ["graph.json", "graph.txt", "graph.dot", "graph.dagitty"])
def test_a_graph_is_read(name: str) -> None:
    assert bd.read_graph(FOLDER / name) == bd.parse_graph(GRAPH)
    assert bd.parse_graph(LOGGED) != bd.parse_graph(GRAPH)


def test_every_format_of_graphs_that_is_written_has_a_file() -> None:
    endings = {"text": "txt"}

    assert {f"graph.{endings.get(one, one)}" for one in get_args(GraphFormat)} <= set(FILES)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_log_that_a_service_exported_is_bounded(ending: str) -> None:
    log = bd.read_log(FOLDER / f"export.{ending}")
    graph, arms = "Age -> Ad -> Click <- Age", {"Ad": ["A", "B", "C"]}
    table = bd.derive_bounds(graph, "Click | do(Ad), Age", log, domain=arms)

    assert "written while a policy learned" in str(log)
    assert any("a policy that learned" in caveat for caveat in table.caveats)
    assert {key: bound.n for key, bound in table.bounds.items() if bound.n} == {
        (("C",), (0,)): 1,
        (("B",), (0,)): 1,
        (("A",), (1,)): 2,
        (("A",), (2,)): 1,
        (("B",), (2,)): 1,
    }
    assert table.bounds[("B",), (2,)].lower_estimate == 1.0


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return restore_store(tmp_path)


def test_a_store_is_served_and_replayed(store: SqliteStore) -> None:
    with run_engine(store) as engine:
        for name in ("ads", "fused", "watched"):
            report = engine.replay(name, decisions=True)
            assert report.differences == []
            assert report.events > 0
        with pytest.raises(DecisionPruned):
            decide(engine, "a0")
        assert decide(engine, "a7", 1).duplicate
        engine.run(CloseWindows("ads"))
        assert engine.show_policy("ads").open_decisions == 0
        assert engine.get_decision("ads", "a7").learned_reward == 0
        assert engine.show_policy("ads").bounds_version == 2
        assert engine.show_policy("watched").refuted is not None
        assert [key.name for key in list_keys(store)] == ["shop"]


def test_a_store_has_events_of_every_kind(store: SqliteStore) -> None:
    with run_engine(store) as engine:
        kinds = {
            event.kind
            for name in ("ads", "fused", "watched")
            for event in engine.list_events(name)
        }

    assert kinds == {
        events.CREATED,
        events.DECIDED,
        events.REWARDED,
        events.CLOSED,
        events.REFRESHED,
        events.REFUTED,
        events.PRUNED,
    }

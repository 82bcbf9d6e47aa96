import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundit as bd
from boundit.bandit.serialization import VERSION as POLICY_VERSION
from boundit.service import events
from boundit.service.commands import CloseWindows
from boundit.service.errors import DecisionPruned
from boundit.service.keys import list_keys
from boundit.service.store.schema import SCHEMA_VERSION
from boundit.service.store.sqlite import FILE_NAME, SqliteStore
from boundit.simulation.regret_file import VERSION as REGRET_VERSION
from boundit.terms.saving.bound_file import VERSION as BOUND_VERSION
from tests.golden.make import FILES, FOLDER, GRAPH, LOGGED, POLICIES, go_on
from tests.service.kit import SetClock, decide, run_engine


def test_every_present_format_has_a_golden_file() -> None:
    """Who raises a version writes a file of it, and those before stay."""
    assert set(FILES) <= {path.name for path in FOLDER.iterdir()}
    for name in (
        f"bounds_{BOUND_VERSION}.json",
        f"policies_{POLICY_VERSION}.json",
        f"regret_{REGRET_VERSION}.npz",
        f"store_{SCHEMA_VERSION}.sql",
    ):
        assert name in FILES


def test_a_table_is_read_with_all_that_it_carries() -> None:
    table = bd.BoundTable.load(FOLDER / "bounds_3.json")

    assert table.arms == (("A",), ("B",))
    assert table.bins == {"Age": (30, 50)}
    assert table.confidence == 0.95
    interval = table[("B",), table.contexts[0]]
    assert (interval.lower, interval.upper) == pytest.approx((0.13385, 0.91102), abs=5e-6)
    assert table.contrast(("A",), ("B",), table.contexts[0]) <= 1
    assert "selection" in str(table.explain("B", table.contexts[0]))
    assert bd.LinUCB(prior=table).decide({"Age": 41.5}).arm in table.arms


def test_a_table_without_counts_has_the_same_intervals() -> None:
    whole, plain = (
        bd.BoundTable.load(FOLDER / name)
        for name in ("bounds_3.json", "bounds_3_without_counts.json")
    )

    assert {key: (one.lower, one.upper) for key, one in whole.bounds.items()} == {
        key: (one.lower, one.upper) for key, one in plain.bounds.items()
    }


@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_goes_on_where_its_state_was_kept(kind: str) -> None:
    kept = json.loads((FOLDER / "policies_3.json").read_text(encoding="utf-8"))[kind]
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
        assert sum((again.propensities or {}).values()) == pytest.approx(1)


def _list_chances(record: Mapping[str, Any]) -> list[tuple[object, float]]:
    return [(arm, float(chance)) for arm, chance in record["propensities"]]


def test_a_simulation_is_read() -> None:
    regret = bd.Regret.load(FOLDER / "regret_1.npz")

    assert set(regret.policies) == {"TS", "UCB"}
    assert np.isfinite(regret.curves).all()


def test_a_graph_is_read() -> None:
    assert bd.read_graph(FOLDER / "graph.json") == bd.parse_graph(GRAPH)
    assert bd.parse_graph(LOGGED) != bd.parse_graph(GRAPH)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    text = (FOLDER / "store_1.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.executescript(text)
    clock = SetClock()
    clock.move(3600)
    return SqliteStore(tmp_path, clock=clock)


def test_a_store_is_served_and_replayed(store: SqliteStore) -> None:
    with run_engine(store) as engine:
        for name in ("ads", "fused", "watched"):
            report = engine.replay(name, decisions=True)
            assert report.differences == []
            assert report.events > 0
        with pytest.raises(DecisionPruned):
            decide(engine, "a0")
        assert decide(engine, "a7", 1).repeated
        engine.run(CloseWindows("ads"))
        assert engine.show_policy("ads").n_open == 0
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

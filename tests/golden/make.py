"""What the golden files hold: tables, policies, simulations, graphs, a store and its logs."""

import json
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import boundit as bd
from boundit.bandit.policy import Policy
from boundit.graph.formats import to_record
from boundit.graph.read import GraphFormat, draft_graph, write_draft
from boundit.service.commands import CloseWindows, RefreshBounds, RefreshRequest
from boundit.service.export import export_log
from boundit.service.keys import add_key
from boundit.service.store.sqlite import FILE_NAME, SqliteStore
from tests.service.kit import (
    SetClock,
    decide,
    make_config,
    make_table,
    reward,
    run_engine,
    save,
)

FOLDER = Path(__file__).parent / "files"
GRAPH = "Z = {Age, Sex}; Z -> X -> Y; Z -> Y; X <-> Y; hidden U; U -> X; U -> Age; Y -> [S]"
LOGGED = "Age -> X -> M -> Y; Age -> Y; X <-> Y; Age -> [S]"
QUERY = "Y | do(X), Age"
POLICIES: Mapping[str, type[Policy]] = {
    kind.__name__: kind for kind in (bd.Fused, bd.LinUCB, bd.UCB, bd.TS, bd.LinTS, bd.OAM)
}
EARLY, LATE = range(12), range(12, 20)
EXPORTED = "fused"
"""The policy of the store whose log is exported."""


def make_bounds() -> bd.BoundTable:
    """A table with bins, texts and numbers, contrasts, a plan and reasons."""
    rows = [
        (age, x, m, y, 3 + (5 * i) % 7 + 4 * (y == (x == "B")))
        for i, (age, x, m, y) in enumerate(
            (age, x, m, y)
            for age in (22.5, 41.5, 67.0)
            for x in ("A", "B")
            for m in (False, True)
            for y in (0, 1)
        )
    ]
    frame = pd.DataFrame(rows, columns=["Age", "X", "M", "Y", "n"])
    log = bd.read_log(frame, weight="n", bins={"Age": [30, 50]})
    return bd.derive_bounds(LOGGED, QUERY, log, selection_rate=(0.3, 0.9))


def make_full_bounds() -> bd.BoundTable:
    """A table with contrasts and a plan of Fused."""
    world = bd.simulation.paper_environment()
    return bd.derive_bounds(world.graph, world.query, world.log(3_000, seed=1))


def make_limited_bounds() -> bd.BoundTable:
    """A table with a limit on hidden confounding."""
    rows = [
        (age, x, y, 40 + 35 * i % 31 + 20 * (y == (x == "B")))
        for i, (age, x, y) in enumerate(
            (age, x, y) for age in ("younger", "older") for x in ("A", "B") for y in (0, 1)
        )
    ]
    log = bd.read_log(pd.DataFrame(rows, columns=["Age", "X", "Y", "n"]), weight="n")
    graph = "Age -> X -> Y; Age -> Y; X <-> Y"
    return bd.derive_bounds(graph, QUERY, log, confounding_limit={"X <-> Y": 1.5})


def make_modelled_bounds() -> bd.BoundTable:
    """A table by models of scikit-learn."""
    draw = np.random.default_rng(4)
    a, b = draw.normal(size=(2, 1_000))
    x = (draw.random(1_000) < 1 / (1 + np.exp(-a))).astype(int)
    y = (draw.random(1_000) < 1 / (1 + np.exp(-(0.8 * a + 0.3 * b + 0.5 * x)))).astype(int)
    return bd.derive_bounds(
        "Z = {A, B}; Z -> X; Z -> Y; X -> Y",
        "Y | do(X)",
        {"A": a, "B": b, "X": x, "Y": y},
        inference="approximate",
        models="linear",
    )


def make_policy(kind: str) -> Policy:
    """A policy that has learned a few rewards, the last of them with what else was seen."""
    options: dict[str, Any] = {"horizon": 100} if kind in {"UCB", "OAM"} else {"seed": 5}
    make: Callable[..., Policy] = POLICIES[kind]
    policy = make(prior=make_bounds(), explore=0.1, **options)
    for i in EARLY:
        decision = policy.decide({"Age": 20.0 + 4 * i}, id=f"v{i}")
        policy.learn(decision, float(i % 3 == 0), observed={"M": i % 2 == 0})
    return policy


def go_on(policy: Policy) -> list[dict[str, Any]]:
    """What a policy decides for the next visitors, from whose rewards it learns."""
    found = list[dict[str, Any]]()
    for i in LATE:
        decision = policy.decide({"Age": 20.0 + 2 * i}, id=f"v{i}")
        found.append(decision.record(propensities=True))
        policy.learn(decision, float(i % 2))
    return found


def write_policies(path: Path) -> None:
    """States of all kinds of policies, and what each decides next."""
    found = dict[str, Any]()
    for kind in POLICIES:
        policy = make_policy(kind)
        found[kind] = {"state": policy.state(), "next": go_on(policy)}
    _write_json(path, found)


def write_regret(path: Path) -> None:
    """A small simulation."""
    world = bd.simulation.paper_environment()
    bd.simulate(world, {"TS": bd.TS(), "UCB": bd.UCB()}, rounds=40, runs=3, seed=2).save(path)


def write_store(path: Path) -> None:
    """All that a service keeps, with an event of every kind, as SQL text."""
    clock = SetClock()
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(folder, clock=clock)
        configs = (
            make_config("ads", "TS", window=60.0, default_reward=0.0, explore=0.1),
            make_config("fused", "Fused", reward_aggregation="sum", window=600.0),
            make_config("watched", "UCB", monitor=0.2, arms=["C"]),
        )
        with run_engine(store, *configs) as engine:
            add_key(store, "shop", ["decide", "reward"])
            for i in range(6):
                decide(engine, f"a{i}", i % 3)
                decide(engine, f"f{i}", i % 3, policy="fused")
                reward(engine, f"f{i}", float(i % 2), policy="fused")
                clock.move(1)
            reward(engine, "a0", 1.0)
            reward(engine, "a1", 0.0)
            clock.move(60)
            engine.run(CloseWindows("ads"))
            reward(engine, "a2", 1.0)  # too late
            clock.move(10)
            engine.prune("ads", datetime.fromtimestamp(clock.now / 1e6 - 5, UTC))
            engine.run(RefreshBounds("ads", RefreshRequest(save(make_table(top=0.8)))))
            for i in range(6, 9):
                decide(engine, f"a{i}", i % 3)
            for i in range(60):  # what no bounds of this table allow
                decide(engine, f"w{i}", 0, policy="watched")
                reward(engine, f"w{i}", 1.0, policy="watched")
        with closing(sqlite3.connect(Path(folder) / FILE_NAME)) as connection:
            path.write_text("\n".join(connection.iterdump()) + "\n", encoding="utf-8")


def write_graph(path: Path, to: GraphFormat) -> None:
    """The graph as it is drawn, hidden nodes and all, in a format for others."""
    path.write_text(write_draft(draft_graph(GRAPH)[1], to), encoding="utf-8")


def restore_store(folder: Path) -> SqliteStore:
    """The store of the golden file, in a folder, at a moment when all windows are closed."""
    text = (FOLDER / "store_3.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.executescript(text)
    clock = SetClock()
    clock.move(3600)
    return SqliteStore(folder, clock=clock)


def write_export(path: Path) -> None:
    """The closed decisions of a policy of the golden store, as a log."""
    with tempfile.TemporaryDirectory() as folder:
        store = restore_store(Path(folder))
        with run_engine(store) as engine:
            engine.run(CloseWindows(EXPORTED))
            path.write_bytes(b"".join(export_log(store, EXPORTED, path.suffix[1:])))


def _write_json(path: Path, record: object) -> None:
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")


FILES: Mapping[str, Callable[[Path], None]] = {
    "bounds_3.json": lambda path: make_bounds().save(path),
    "bounds_4.json": lambda path: make_full_bounds().save(path),
    "bounds_3_without_counts.json": lambda path: make_bounds().save(path, counts=False),
    "policies_4.json": write_policies,
    "regret_2.npz": write_regret,
    "graph.json": lambda path: _write_json(path, to_record(bd.parse_graph(GRAPH))),
    "store_3.sql": write_store,
    "bounds_3_full.json": lambda path: make_full_bounds().save(path),
    "bounds_3_limited.json": lambda path: make_limited_bounds().save(path),
    "bounds_3_modelled.json": lambda path: make_modelled_bounds().save(path),
    "graph.txt": lambda path: write_graph(path, "text"),
    "graph.dot": lambda path: write_graph(path, "dot"),
    "graph.dagitty": lambda path: write_graph(path, "dagitty"),
    "export.csv": write_export,
    "export.jsonl": write_export,
    "export.parquet": write_export,
}
"""Every file with the version of its format, and what writes it."""

"""What tests of the service share: a clock that tests set, bounds, and engines that stop."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from prometheus_client import generate_latest

from boundit.results.bound_table import BoundTable
from boundit.results.fused_plan import Factor, FusedPlan
from boundit.service.commands import (
    CreatePolicy,
    Decide,
    DecideAnswer,
    DecideRequest,
    GiveRewards,
    RewardAnswer,
    RewardRequest,
)
from boundit.service.config import PolicyConfig
from boundit.service.engine import Engine
from boundit.service.store.base import Store

SECOND = 1_000_000
NOON = 1_700_000_000 * SECOND
ARMS = ("A", "B", "C")
KINDS = ("Fused", "LinUCB", "UCB", "TS", "LinTS", "OAM")


class SetClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now

    def move(self, seconds: float) -> None:
        """Move it on, or back."""
        self.now += round(seconds * SECOND)


def make_table(
    *, top: float = 0.9, arms: tuple[str, ...] = ARMS, outcome: str = "Click"
) -> BoundTable:
    """Bounds on the click of each ad at each of three ages."""
    rows = [
        {"Ad": ad, "Age": age, "lower": 0.05 * i, "upper": top - 0.1 * i + 0.02 * age}
        for i, ad in enumerate(arms)
        for age in range(3)
    ]
    return BoundTable.from_rows(
        rows, outcome=outcome, treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
    )


def make_planned_table() -> BoundTable:
    """The same with a plan of Fused, which counts in the cells of a binary W."""
    table = make_table()
    pairs = tuple(table.intervals)
    factor = Factor(("W",), ((0,), (1,)), ((0,),) * len(pairs), ((3, 2),))
    cells = tuple((2 * i, 2 * i + 1) for i in range(len(pairs)))
    n = 2 * len(pairs)
    return replace(table, pooling=FusedPlan(pairs, (factor,), cells, (4,) * n, (1.0,) * n))


def save(table: BoundTable) -> dict[str, Any]:
    """The table as a request brings it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bounds.json"
        table.save(path)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def make_config(name: str = "ads", kind: str = "TS", **options: Any) -> PolicyConfig:
    """A policy on the ads, with a seed."""
    given = {"seed": 7, "bounds": save(make_table()), **options}
    return PolicyConfig(name=name, kind=kind, **given)  # type: ignore[arg-type]


@contextmanager
def run_engine(store: Store, *configs: PolicyConfig, **options: Any) -> Iterator[Engine]:
    """An engine that looks after windows only when it is asked, with policies created."""
    with Engine(store, **{"tick": 3600.0, **options}) as engine:
        for config in configs:
            engine.run(CreatePolicy(config))
        yield engine


def decide(engine: Engine, name: str | None = None, age: int = 0, **more: Any) -> DecideAnswer:
    """One decision of the policy ``ads``."""
    policy = more.pop("policy", "ads")
    request = DecideRequest(name, {"Age": age}, **more)
    return engine.run(Decide(policy, [request])).decisions[0]


def reward(engine: Engine, name: str, reward: float | None = None, **more: Any) -> RewardAnswer:
    """One reward of the policy ``ads``."""
    policy = more.pop("policy", "ads")
    return engine.run(GiveRewards(policy, [RewardRequest(name, reward, **more)])).rewards[0]


def count(engine: Engine, name: str) -> float | None:
    """A counter of the engine."""
    return engine.registry.get_sample_value(f"boundit_{name}_total")


def write_metrics(engine: Engine) -> str:
    """All metrics as Prometheus reads them."""
    return generate_latest(engine.registry).decode()

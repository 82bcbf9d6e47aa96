"""Policies by name."""

import pytest

from boundit.bandit.policy import Policy
from boundit.simulation.environments import flipped_environment, paper_environment
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.policies import (
    KINDS,
    PCB,
    OfflineTables,
    make_policies,
    pick_policies,
)


def test_every_kind_plays_with_and_without_bounds() -> None:
    offline = OfflineTables.from_environment(paper_environment(), size=3_000)
    found = make_policies(list(KINDS), {PCB: offline.exact}, {"CP": offline.cp})

    assert len(found) == 2 * len(KINDS) + 4
    assert all(isinstance(policy, Policy) for policy in found.values())
    assert list(found)[:2] == ["LinUCB", "LinUCB-PCB"]
    assert list(found)[-4:] == [f"LinUCB_CP-{rows}" for rows in (1, 10, 100, "counts")]


@pytest.mark.parametrize("environment", [paper_environment(), flipped_environment()])
def test_what_a_log_gives_holds_as_promised(environment: object) -> None:
    """Bounds of the exact law and of a log of the paper's size; estimates are points."""
    offline = OfflineTables.from_environment(environment)  # type: ignore[arg-type]
    for key, mean in environment.means().items():  # type: ignore[attr-defined]
        assert offline.exact[key].lower - 1e-9 <= mean <= offline.exact[key].upper + 1e-9
        assert offline.logged[key].lower <= mean <= offline.logged[key].upper
        assert offline.cp[key].lower == offline.cp[key].upper
    assert offline.logged.confidence == 0.95
    assert offline.exact.confidence is None


def test_policies_go_by_name() -> None:
    offline = OfflineTables.from_environment(paper_environment(), size=3_000)
    policies = pick_policies(["TS", "UCB-PCB"], offline, exact=False)

    assert list(policies) == ["TS", "UCB-PCB"]
    for exact, table in ((False, offline.logged), (True, offline.exact)):
        (picked,) = pick_policies(["UCB-PCB"], offline, exact=exact).values()
        assert picked.prior.table is table
    fused = pick_policies(["Fused", "Fused-trusting"], offline, exact=True)
    assert all(policy.prior.table is not None for policy in fused.values())
    with pytest.raises(
        InvalidSimulation, match=r"Lin-UCB is not a policy. Did you mean 'LinUCB'\?"
    ):
        pick_policies(["Lin-UCB"], offline, exact=True)
    with pytest.raises(InvalidSimulation, match="Use one of LinUCB, LinUCB-PCB"):
        pick_policies(["42"], offline, exact=True)

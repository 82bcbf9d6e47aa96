"""Differences of arms on every log of a few rows: a lead misses no more often than its error.

The number of a log is a context, so that the claims on all logs are made at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.claims.claim_finder import ClaimCounts
from boundit.bounds.claims.claim_rules import find_forms, plan_claims
from boundit.bounds.claims.level_form import LevelForm, find_form
from boundit.bounds.claims.pilot import SplitRows, SplitSources
from boundit.bounds.claims.pilot_choice import PilotChoice
from boundit.bounds.claims.read_form import FormReader
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.bounds.contrasts import contrast_claims
from boundit.bounds.contrasts.contrast_claims import ContrastFinder, make_contrast_claims
from boundit.bounds.contrasts.two_sides import find_sides
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.plan import BoundPlan, plan_bounds
from boundit.bounds.plan_counts import count_for
from boundit.terms.names import Nodes
from tests.bounds.claims.logs import Floats, Law, draw_hard_laws, list_logs

BACK_DOOR = "C -> Z -> X -> Y; Z -> Y; C -> X; C -> Y"
SEQUENCE = "C -> A -> X -> Y; C -> X; C -> B -> Y; C -> Y; A -> B; A -> Y; B <-> [S]"
MEDIATED = "C -> X -> Y; C -> B -> Y; C -> Y; X -> B; B <-> [S]"
TWO_STEP = "C -> Z -> X -> Y; Z -> Y; C -> X; C -> Y; C -> W; Z -> W; X -> W; W -> Y"


@dataclass(frozen=True)
class Case:
    """A graph, a rule of its plan by its name, and the columns of a log in causal order."""

    graph: str
    rule: str
    names: str
    shared: Mapping[str, Nodes]

    def find_lead(self, law: Law) -> float:
        """Find how much better the arm 1 may be at the exact law, than the arm 0."""
        tables = dict(zip(law.names, law.tables, strict=True))
        mean = tables["y"][..., 1]
        match self.names:
            case "zxy":
                return float(tables["z"] @ (mean[:, 1] - mean[:, 0]))
            case "abxy":
                lead = mean[:, :, 1] - mean[:, :, 0]
                return float(tables["a"] @ lead.max(axis=1))
            case "xby":
                return float(mean[1].max() - mean[0].min())
            case _:
                given = tables["w"] * mean
                return float(tables["z"] @ (given[:, 1] - given[:, 0]).sum(axis=1))


CASES = {
    "a back door": Case(BACK_DOOR, "recovery through Z", "zxy", {}),
    "an unknown law that both arms have": Case(
        SEQUENCE, "sequence A, B, unknown B", "abxy", {"B": frozenset()}
    ),
    "an unknown law of each arm's own": Case(
        MEDIATED, "conditioning on B", "xby", {"B": frozenset("X")}
    ),
    "two steps": Case(TWO_STEP, "recovery through Z, W", "zxwy", {}),
}


def read_rewards(
    plan: BoundPlan, names: str, counts: Floats
) -> tuple[BinaryReward, BoundEvidence]:
    """Count logs that are numbered by the first axis, by the context C."""
    seen = np.argwhere(counts > 0)
    columns = dict(zip(("C", *names.upper()), seen.T, strict=True))
    columns["n"] = counts[counts > 0]
    domain = {
        name: range(n) for name, n in zip(("C", *names.upper()), counts.shape, strict=True)
    }
    del domain["Y"]
    counted = count_for(plan, bd.read_log(columns, weight="n"), (), domain)
    evidence = BoundEvidence.from_counts(plan, counted, (0.0, 1.0))
    return evidence.rewards, evidence


def make_claims(case: Case, law: Law, rows: int) -> tuple[SumClaims, Floats]:
    """Make the claims on every log with a pilot that knows the law, and list their chances."""
    graph = bd.parse_graph(case.graph)
    plan = plan_bounds(graph, bd.parse_query("Y | do(X), C"))
    rule = next(p.rule for p in plan.rules if p.record.name == case.rule)
    form = find_form(rule, graph)
    assert isinstance(form, LevelForm)
    logs = list_logs(law, rows)
    known = np.rint(1e4 * np.tile(law.joint, (len(logs.counts), *[1] * law.joint.ndim)))
    rest, evidence = read_rewards(plan, case.names, logs.counts)
    pilot, _ = read_rewards(plan, case.names, known)
    split = SplitRows(pilot, (rest,), (rest,))
    evaluator = evidence.evaluator
    reader = FormReader.of(
        form, SplitSources(split, (split,)), evaluator.levels, evaluator.workspace
    )
    sides = find_sides(form, ("X",), case.shared)
    assert sides is not None
    spoken = reader.read_rest(np.random.default_rng(2), numeric=False)
    claims = make_contrast_claims(sides, reader.read_pilot(None), spoken)
    assert isinstance(claims, SumClaims)
    return claims, logs.probability


def find_mean(case: Case, law: Law, factor: float) -> float:
    """Find the mean over all logs of the e-value that the lead of the arm 1 rests on."""
    claims, chance = make_claims(case, law, 3)
    none = np.zeros((1, 1, 1))
    ranges = tuple(none.astype(bool) for _ in claims.rest.arrays.numbers)
    end = claims.bound(PilotChoice(none + factor, ranges, none), none, upper=True)
    value = (case.find_lead(law) + 1) / 2
    return float(chance @ np.exp(factor * (value - end[1, :, 0])))


@pytest.mark.parametrize("factor", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("name", CASES)
def test_e_values_of_leads_have_a_mean_of_at_most_one(name: str, factor: float) -> None:
    """So they do for the greatest lead at the exact law, over all logs of three rows."""
    case = CASES[name]
    for law in draw_hard_laws(case.names, (2,) * len(case.names), draws=1):
        assert find_mean(case, law, factor) <= 1 + 1e-9


def test_an_unknown_law_of_each_arm_must_not_be_shared() -> None:
    """Its worst is not the same for both: the mean of e-values would exceed one."""
    case = replace(CASES["an unknown law of each arm's own"], shared={"B": frozenset()})
    laws = draw_hard_laws(case.names, (2, 2, 2), draws=2)
    assert max(find_mean(case, law, 6.0) for law in laws) > 1.5


@pytest.mark.parametrize("name", CASES)
def test_leads_hold_on_every_log(name: str) -> None:
    """With what the pilot chooses a lead misses no more often than its error."""
    case, informed = CASES[name], 0
    for law in draw_hard_laws(case.names, (2,) * len(case.names), draws=1):
        claims, chance = make_claims(case, law, 3)
        for a in (0.3, 0.8):
            error = np.full((1, 1, 1), log(1 / a))
            ends = claims.bound(claims.choose(error, upper=True), error, upper=True)
            leads = (2 * ends - 1)[1, :, 0]
            assert chance @ (leads < case.find_lead(law) - 1e-9) <= a
            informed += int((leads < 1).any())
    assert informed


def draw_back_door(rows: int, seed: int, *, arms: int = 3) -> dict[str, Floats]:
    """Draw a log with four strata and several arms, each a little better than the last."""
    rng = np.random.default_rng(seed)
    z = rng.integers(4, size=rows)
    x = (z + rng.integers(2 * arms, size=rows)) % arms
    y = rng.random(rows) < 0.2 + 0.1 * x + 0.1 * z
    return {"Z": z, "X": x, "Y": y.astype(int)}


def compare(
    columns: Mapping[str, Floats], graph: str, query: str = "Y | do(X)"
) -> bd.BoundTable:
    """Bound the arms of a log at 95 percent."""
    return bd.derive_bounds(
        bd.parse_graph(graph), query, bd.read_log(dict(columns)), confidence=0.95
    )


def test_a_difference_is_narrower_than_two_ends() -> None:
    """Errors of two arms add up in squares; every lead holds."""
    table = compare(draw_back_door(20_000, 1), "Z -> X -> Y; Z -> Y")
    assert len(table.contrasts) == 6
    for (context, one, two), lead in table.contrasts.items():
        apart = table[one, context].upper - table[two, context].lower
        assert 0.1 * (int(str(one[0])) - int(str(two[0]))) < lead < apart


def test_arms_of_two_treatments_are_compared() -> None:
    """Arms may differ in one treatment or in both."""
    rng = np.random.default_rng(3)
    z, a, b = (rng.integers(2, size=20_000) for _ in range(3))
    y = rng.random(20_000) < 0.2 + 0.2 * a + 0.3 * b + 0.1 * z
    columns = {"Z": z, "A": a * z, "B": b, "Y": y.astype(int)}
    graph = "Z -> A -> Y; Z -> Y; Z -> B -> Y"
    columns["A"] = np.where(rng.random(20_000) < 0.6, z, a)
    columns["Y"] = (rng.random(20_000) < 0.2 + 0.2 * columns["A"] + 0.3 * b + 0.1 * z).astype(
        int
    )
    table = compare(columns, graph, "Y | do(A, B)")
    assert {(one, two) for _, one, two in table.contrasts} >= {
        ((0, 0), (1, 0)),
        ((0, 0), (0, 1)),
        ((0, 0), (1, 1)),
    }
    for (_, one, two), lead in table.contrasts.items():
        first, second = ([int(str(level)) for level in arm] for arm in (one, two))
        step = np.subtract(first, second)
        assert lead > 0.2 * step[0] + 0.3 * step[1]


def test_numeric_rewards_are_compared() -> None:
    """Differences of rewards between 0 and 10 are claimed too, on their scale."""
    columns = draw_back_door(20_000, 1)
    columns["Y"] = 5.0 * columns["Y"] + 2.5
    columns["Y"][::3] += 1.0
    table = bd.derive_bounds(
        bd.parse_graph("Z -> X -> Y; Z -> Y"),
        "Y | do(X)",
        bd.read_log(columns),
        outcome_range=(0, 10),
        confidence=0.95,
    )
    leads = table.contrasts
    assert leads[(), (0,), (2,)] < 0
    assert all(
        lead > 0.5 * (int(str(one[0])) - int(str(two[0])))
        for (_, one, two), lead in leads.items()
    )


def test_the_front_door_is_left_to_subtraction() -> None:
    """Both arms read the same rewards with other weights: no claim on their difference."""
    graph = bd.parse_graph("X -> M -> Y; X <-> Y")
    plan = plan_bounds(graph, bd.parse_query("Y | do(X)"))
    rng = np.random.default_rng(0)
    x, m, y = rng.integers(2, size=(3, 500))
    counts = count_for(plan, bd.read_log({"X": x, "M": m, "Y": y}), (), {})
    evidence = BoundEvidence.from_counts(plan, counts, None)
    claims = plan_claims(plan, find_forms(plan), evidence.evaluator.levels, 500)
    assert claims is not None
    finder = ContrastFinder(claims, plan, ClaimCounts(evidence), 0.01)
    assert not finder.has_claims


def test_very_many_pairs_are_left_to_subtraction(monkeypatch: pytest.MonkeyPatch) -> None:
    """With known laws the differences of very many arms are not worth their time."""
    columns = draw_back_door(2_000, 4)
    assert compare(columns, "Z -> X -> Y; Z -> Y").contrasts
    monkeypatch.setattr(contrast_claims, "MOST_KNOWN", 10)
    graph = bd.parse_graph("Z -> X -> Y; Z -> Y")
    plan = plan_bounds(graph, bd.parse_query("Y | do(X)"))
    evidence = BoundEvidence.from_counts(
        plan, count_for(plan, bd.read_log(columns), (), {}), None
    )
    claims = plan_claims(plan, find_forms(plan), evidence.evaluator.levels, 2_000)
    assert claims is not None
    assert not ContrastFinder(claims, plan, ClaimCounts(evidence), 0.01).has_claims

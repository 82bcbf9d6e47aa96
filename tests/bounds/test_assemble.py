from typing import Any

import numpy as np
import pytest

from boundit.bounds import assemble as assembly
from boundit.bounds.assemble import assemble
from boundit.bounds.claims.claim_finder import ClaimFinder
from boundit.bounds.contrasts.contrast_claims import ContrastFinder
from boundit.bounds.derive import derive_bounds
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.plan import plan_sound
from boundit.bounds.plan_counts import PlanCounts
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.read import read_log
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.fused_plan import FusedPlan
from boundit.terms.interval import Interval
from boundit.terms.long_work import TimeBudget

GRAPH = parse("Z -> X -> M -> Y; Z -> Y")
QUERY = parse_query("Y | do(X)")
PLAN = plan_sound(GRAPH, QUERY, (), max_condition=3)
LOG = read_log(
    {
        "Z": [0, 1, 0, 1],
        "X": [0, 1, 1, 0],
        "M": [0, 1, 1, 0],
        "Y": [0, 1, 1, 1],
        "n": [9, 8, 7, 6],
    },
    weight="n",
)


def test_a_plan_and_counts_become_a_table_that_stands_by_itself() -> None:
    table = assemble(PLAN, PlanCounts(LOG.count(["Z", "X", "M"], reward="Y")))

    assert (table.outcome, table.treatments, table.context) == ("Y", ("X",), ())
    assert table.levels == {"X": (0, 1)}
    assert table.outcome_range == (0.0, 1.0)
    assert {row["n"] for row in table.rows()} == {15.0}
    assert set(table.rules) == {p.record.name for p in PLAN.rules}
    assert isinstance(table[0, ()], Interval)


def test_an_external_table_that_was_counted_brings_chance_with_it() -> None:
    """An exact log beside a sampled table: ends may cross, and that refutes nothing."""
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
    query = parse_query("Y | do(X)")
    exact = read_log(
        {"Z": [0, 0, 1, 1], "X": [0, 1, 0, 1], "Y": [0, 1, 1, 0], "p": [1, 2, 3, 4]},
        weight="p",
        exact=True,
    ).count(["X", "Z"], reward="Y")
    sampled = read_log({"Z": [0, 1, 1]}).count(["Z"])
    plan = plan_sound(graph, query, [frozenset("Z")], max_condition=1)

    table = assemble(plan, PlanCounts(exact, (sampled,)))

    assert table[1, ()] == Interval(1 / 3, 1 / 3)


def test_approximate_ends_are_near_where_every_arm_has_many_rewards() -> None:
    rng = np.random.default_rng(0)
    z, x, m, y = rng.integers(0, 2, (4, 3_000))
    log = read_log({"Z": z, "X": x, "M": m, "Y": y}).count(["Z", "X", "M"], reward="Y")

    exact = assemble(PLAN, PlanCounts(log), confidence=0.95)
    near = assemble(PLAN, PlanCounts(log), confidence=0.95, inference="approximate")

    for key, bound in near.bounds.items():
        assert bound.upper - bound.lower < 0.9 * exact[key].width


def test_a_log_read_twice_by_clusters_is_as_wide_as_once() -> None:
    rng = np.random.default_rng(1)
    z, x, m, y = rng.integers(0, 2, (4, 2_000))
    rows = {"Z": z, "X": x, "M": m, "Y": y, "U": np.arange(2_000)}
    twice = read_log({name: np.tile(column, 2) for name, column in rows.items()})
    columns = ["Z", "X", "M"]
    of_rows, of_users = (
        assemble(PLAN, PlanCounts(log), confidence=0.95, inference="approximate")
        for log in (
            read_log(rows).count(columns, reward="Y"),
            twice.count(columns, reward="Y", cluster="U"),
        )
    )

    for key, bound in of_users.bounds.items():
        assert abs((bound.upper - bound.lower) / of_rows[key].width - 1) < 0.03


def test_what_the_other_method_would_give_is_found_when_somebody_reads_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = list[str]()
    make = assembly._make_trial

    def note(*given: object) -> object:
        made.append(str(given[3]))
        return make(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(assembly, "_make_trial", note)
    counts = count_rows()
    exact = assemble(PLAN, counts, confidence=0.95, compared=True)
    near = assemble(PLAN, counts, confidence=0.95, inference="approximate")
    assert made == ["exact", "approximate"]

    assert exact.others.keys() == exact.bounds.keys()
    assert made == ["exact", "approximate", "approximate"]
    for key, other in exact.others.items():
        assert other.width == pytest.approx(near[key].width, rel=0.1)
    assert "The approximate method would give about" in exact.explain(1)
    assert len(made) == 3
    assert near.others == assemble(PLAN, counts, compared=True).others == {}


def test_where_many_cells_were_counted_no_table_holds_on_to_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = count_rows()
    later = assemble(PLAN, counts, confidence=0.95, compared=True).others
    monkeypatch.setattr(assembly, "MOST_KEPT", 5)
    at_once = assemble(PLAN, counts, confidence=0.95, compared=True).others

    assert type(at_once) is dict
    assert at_once == later
    monkeypatch.setattr(assembly, "MOST_COMPARED_NOW", 1)
    assert assemble(PLAN, counts, confidence=0.95, compared=True).others == {}
    monkeypatch.setattr(assembly, "MOST_KEPT", 10_000)
    assert assemble(PLAN, counts, confidence=0.95, compared=True).others == later
    monkeypatch.setattr(assembly, "MOST_COMPARED", 1)
    assert assemble(PLAN, counts, confidence=0.95, compared=True).others == {}


def test_methods_are_compared_in_the_time_that_is_left_where_both_hold() -> None:
    counts = count_rows()
    late = Workspace(10**9, TimeBudget(0.0))
    slow = assemble(PLAN, counts, confidence=0.95, compared=True, workspace=late)
    assert slow.others == {}
    learned = count_rows(adaptive=True)
    assert assemble(PLAN, learned, confidence=0.95, compared=True).others == {}


def count_rows(*, adaptive: bool = False) -> PlanCounts:
    z, x, m, y = np.random.default_rng(0).integers(0, 2, (4, 3_000))
    log = read_log({"Z": z, "X": x, "M": m, "Y": y}, adaptive=adaptive)
    return PlanCounts(log.count(["Z", "X", "M"], reward="Y"))


def test_the_edges_of_what_a_policy_may_observe_come_with_the_table() -> None:
    rows = {"X": [0, 1] * 8, "M": [*range(16)], "Z": [*range(16)], "Y": [0, 0, 1, 1] * 4}
    log = read_log(rows, bins={"M": [5], "Z": [8]})
    graph, query = parse("X -> M -> Y; X <-> M; Z -> X"), parse_query("Y | do(X)")
    plan = plan_sound(graph, query, (), max_condition=3)

    table = assemble(plan, PlanCounts(log.count(["Z", "X", "M"], reward="Y")))

    assert isinstance(table.pooling, FusedPlan)
    assert table.pooling.variables == ("M",)
    assert table.bins == {"M": (5.0,)}


@pytest.mark.parametrize(
    ("graph", "n_strata"),
    [
        ("Z -> X -> Y; Z -> Y", 2),
        ("Z -> X -> Y; Z -> Y", 12),
        ("A -> B; A -> X; B -> Y; X -> Y; B -> X", 2),
        ("X -> Z -> Y; X <-> Y", 2),
        ("Z -> X -> Y; X <-> Y", 2),
        ("A -> X -> Y; A -> B -> Y; A -> Y; X <-> B", 2),
    ],
)
def test_boxes_claims_and_differences_share_one_error(
    monkeypatch: pytest.MonkeyPatch, graph: str, n_strata: int
) -> None:
    """Added up as it is handed out; that a table misses too often would hardly be seen."""
    spent = dict[str, float]()
    make_confident = BoundEvidence.make_confident

    def make_boxes(self: BoundEvidence, rules: Any, confidence: float) -> Any:
        spent["boxes"] = 1 - confidence
        return make_confident(self, rules, confidence)

    make_confident_of = BoundEvidence.make_confident_of

    def make_boxes_of(self: BoundEvidence, *others: Any, **named: Any) -> Any:
        if len(others) == 3:
            errors = [each.errors.values for each in others[-1].values()]
            spent["boxes"] = sum(float(each.sum()) for each in errors)
        return make_confident_of(self, *others, **named)

    def make_finder(plan: Any, counts: Any, error: Any, *others: Any) -> ClaimFinder:
        spent["claims"] = float(np.sum(error))
        return ClaimFinder(plan, counts, error, *others)

    def make_contrasts(claims: Any, plan: Any, counts: Any, error: float) -> ContrastFinder:
        found = ContrastFinder(claims, plan, counts, error)
        spent["differences"] = error if found.has_claims else 0.0
        return found

    monkeypatch.setattr(BoundEvidence, "make_confident", make_boxes)
    monkeypatch.setattr(BoundEvidence, "make_confident_of", make_boxes_of)
    monkeypatch.setattr(assembly, "ClaimFinder", make_finder)
    monkeypatch.setattr(assembly, "ContrastFinder", make_contrasts)
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 2_000) for name in "ABXYZ" if name in graph}
    rows |= {name: rng.integers(0, n_strata, 2_000) for name in "Z" if name in graph}
    derive_bounds(parse(graph), "Y | do(X)", read_log(rows), confidence=0.9)
    assert spent.keys() == {"boxes", "claims", "differences"}
    assert min(spent["boxes"], spent["claims"]) > 0
    assert sum(spent.values()) == pytest.approx(0.1, abs=1e-12)


def test_when_time_is_over_no_arms_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by a look at all rows, of which a table may have very many."""
    monkeypatch.setattr(assembly, "collect_contrasts", None)
    over = Workspace(10**9, TimeBudget(0.0))
    table = assemble(PLAN, count_rows(), confidence=0.95, workspace=over)
    assert not table.contrasts
    assert assembly.OVER in table.notes

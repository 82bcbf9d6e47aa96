"""Ends of all rules by claims: how the error is shared, and that they hold all at once."""

from typing import Any

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.claims import claim_finder
from boundit.bounds.claims.claim_finder import (
    BEST_SHARE,
    MOST_TRIED,
    ClaimFinder,
    bound_shared,
    share_error,
)
from boundit.bounds.claims.pilot_choice import RowChoice, RowClaims
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.counts.named_array import Floats
from boundit.terms.errors import OutOfTime
from tests.bounds.claims.choices import Rows, record_choices

GRAPH = bd.parse_graph("Z -> X -> Y; Z -> Y")
STRATA = 12
N_CONTEXTS = 3


def draw_law(seed: int) -> tuple[Floats, Floats]:
    """Draw a back door: rows by stratum, arm and reward, and the true mean of both arms."""
    rng = np.random.default_rng(seed)
    strata, means = rng.dirichlet(np.full(STRATA, 3.0)), rng.uniform(0.1, 0.9, (STRATA, 2))
    chosen = rng.uniform(0.2, 0.8, STRATA)
    arms = np.stack([1 - chosen, chosen], axis=1)
    law = strata[:, None, None] * arms[:, :, None] * np.stack([1 - means, means], axis=-1)
    truth: Floats = (strata[:, None] * means).sum(axis=0)
    return law, truth


def read(counts: Floats) -> bd.Log:
    """Read counts as a log."""
    codes = np.argwhere(counts > 0)
    columns = dict(zip("ZXY", codes.T, strict=True))
    return bd.read_log({**columns, "n": counts[tuple(codes.T)]}, weight="n")


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n_rules", [1, 2, 3, 5])
def test_the_best_expected_rule_gets_most_and_no_row_spends_more_than_it_has(
    n_rules: int, *, upper: bool
) -> None:
    predicted = list(np.random.default_rng(n_rules).random((n_rules, 4, 3)))
    shares = np.stack(share_error(predicted, upper=upper, equal=False))
    best = np.argmin(predicted, axis=0) if upper else np.argmax(predicted, axis=0)
    assert np.allclose(shares.sum(axis=0), 1)
    assert ((shares > 0).sum(axis=0) == min(n_rules, MOST_TRIED)).all()
    most = np.take_along_axis(shares, best[None], axis=0)
    assert (most == (1 if n_rules == 1 else BEST_SHARE)).all()


def test_where_the_pilot_speaks_too_the_first_rules_share_alike_whatever_it_expects() -> None:
    shares = share_error(list(np.random.default_rng(0).random((4, 6))), upper=True, equal=True)
    assert [float(share.min()) for share in shares] == [1 / 3, 1 / 3, 1 / 3, 0.0]
    assert [float(share.max()) for share in shares] == [1 / 3, 1 / 3, 1 / 3, 0.0]


def test_all_rows_both_ends_and_all_rules_together_spend_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a union of events: no row, end or rule is left out when the error is shared."""
    spent, errors = [0.0], list[float]()

    def count(
        claims: RowClaims, choice: RowChoice, share: Floats, log_row: Floats, *, upper: bool
    ) -> Floats:
        spent[0] += float((np.exp(-log_row) * share).mean() * 2 * N_CONTEXTS)
        return bound_shared(claims, choice, share, log_row, upper=upper)

    def find(self: ClaimFinder, *asked: Any) -> Any:
        errors.append(float(np.sum(self.error)))
        return found(self, *asked)

    found = ClaimFinder.find
    monkeypatch.setattr(claim_finder, "bound_shared", count)
    monkeypatch.setattr(ClaimFinder, "find", find)
    law, _ = draw_law(0)
    codes = np.argwhere(np.ones((N_CONTEXTS, *law.shape)))
    rows = np.rint(4_000 * np.tile(law.ravel(), N_CONTEXTS))
    columns = dict(zip("CZXY", codes[rows > 0].T, strict=True))
    log = bd.read_log({**columns, "n": rows[rows > 0]}, weight="n")
    graph = bd.parse_graph(f"{GRAPH}; C -> Y")
    bd.derive_bounds(graph, "Y | do(X), C", log, confidence=0.9)
    assert sum(errors) <= 0.1
    assert sum(errors) / 2 < spent[0] <= sum(errors) * (1 + 1e-9)


def test_claims_are_far_narrower_than_boxes_and_hold() -> None:
    rng, missed = np.random.default_rng(1), 0
    law, truth = draw_law(0)
    widths = list[float]()
    for _ in range(40):
        counts = rng.multinomial(4_000, law.ravel()).reshape(law.shape)
        table = bd.derive_bounds(GRAPH, "Y | do(X)", read(counts.astype(np.float64)))
        ends = [table[(arm,), ()] for arm in (0, 1)]
        missed += any(not e.lower <= t <= e.upper for e, t in zip(ends, truth, strict=True))
        widths += [end.width for end in ends]
    assert missed <= 5  # 2 are expected at most; more than 5 have a chance of 1 in 70
    assert np.mean(widths) < 0.09  # intervals of cells add up to more than .2


def test_an_end_says_why_chance_moves_it() -> None:
    law, _ = draw_law(0)
    table = bd.derive_bounds(GRAPH, "Y | do(X)", read(np.rint(4_000 * law)))
    said = table.bounds[(1,), ()].sampling
    assert said is not None
    assert said.lower is not None
    assert said.lower.boxes is None
    assert said.lower.effective_rows is not None
    assert 0 < said.lower.effective_rows < 4_000
    assert {name for cell in said.lower.heaviest for name, _ in cell.levels} == {"X", "Z"}


def test_without_time_for_claims_the_table_is_still_there() -> None:
    law, _ = draw_law(0)
    log = read(np.rint(4_000 * law))
    table = bd.derive_bounds(GRAPH, "Y | do(X)", log, time_limit=1e-9)
    assert table[(0,), ()].width == 1
    assert any("time_limit" in caveat for caveat in table.caveats)


def test_the_same_log_gives_the_same_table() -> None:
    law, _ = draw_law(0)
    one, other = (
        bd.derive_bounds(GRAPH, "Y | do(X)", read(np.rint(4_000 * law))) for _ in range(2)
    )
    assert one.rows() == other.rows()


@pytest.mark.parametrize("step", ["choose", "bound"])
def test_claims_that_run_out_of_time_leave_their_boxes(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise OutOfTime

    law, _ = draw_law(0)
    log = read(np.rint(4_000 * law))
    monkeypatch.setattr(SumClaims, step, stop)
    table = bd.derive_bounds(GRAPH, "Y | do(X)", log)
    assert table[(0,), ()].width < 0.5


TABLES = {
    "back door": ("Z -> X -> Y; Z -> Y", "Y | do(X)", {"Z": 3}),
    "rare arm": ("Z -> X -> Y; Z -> Y", "Y | do(X)", {"Z": 4}),
    "two sums": ("A -> B; A -> X; B -> Y; X -> Y; B -> X", "Y | do(X)", {}),
    "context": ("C -> Z; C -> X; C -> Y; Z -> X; Z -> Y; X -> Y", "Y | do(X), C", {"Z": 6}),
    "front door": ("X -> M -> Y; X <-> Y", "Y | do(X)", {"M": 3}),
    "unknown": ("Z -> X -> Y; Z -> Y; B -> Y; B -> [S]", "Y | do(X)", {"Z": 4}),
    "ratio": ("W -> Z -> X -> Y; W <-> X; W <-> Y", "Y | do(X)", {}),
    "program": ("Z -> X -> Y; X <-> Y", "Y | do(X)", {}),
    "program in strata": ("W -> Z -> X -> Y; X <-> Y; W -> X; W -> Y", "Y | do(X)", {"W": 3}),
    "reweighted": ("X -> Y; X -> M -> Y; M -> [S]", "Y | do(X)", {"M": 6}),
}
FACTS: dict[str, dict[str, object]] = {"reweighted": {"selection_limit": 1.5}}


def draw_rows(name: str) -> Rows:
    """Draw rows that fit the graph of a table: columns that tell nothing of each other."""
    graph, _, sizes = TABLES[name]
    rng = np.random.default_rng(len(name))
    observed = sorted(bd.parse_graph(graph).observed - {"Y"})
    n = 1_500
    values = {column: rng.integers(0, sizes.get(column, 2), n) for column in observed}
    if name == "rare arm":
        values["X"] = (rng.random(n) < np.where(values["Z"] == 0, 0.03, 0.5)).astype(int)
    values["Y"] = rng.integers(0, 2, n)
    groups = rng.choice(4, n, p=(0.08, 0.12, 0.4, 0.4))
    return Rows((*observed, "Y"), np.stack(list(values.values()), axis=1), groups)


@pytest.mark.parametrize("name", TABLES)
def test_rewards_outside_the_pilot_move_no_choice_of_a_whole_table(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scales, kinds of penalties, multipliers, steps, parts of the error, order of rules."""
    graph, query, _ = TABLES[name]
    rows, rng = draw_rows(name), np.random.default_rng(1)
    facts = FACTS.get(name, {})
    chosen = record_choices(rows, graph, query, monkeypatch, **facts)
    assert chosen
    for _ in range(2):
        other = rows.permute_rewards(rng, 1)
        again = record_choices(other, graph, query, monkeypatch, **facts)
        assert len(again) == len(chosen)
        for one, two in zip(chosen, again, strict=True):
            np.testing.assert_array_equal(one, two)
    # Those of the pilot do.
    moved = record_choices(rows.move_rewards(rng), graph, query, monkeypatch, **facts)
    same = len(moved) == len(chosen) and all(map(np.array_equal, moved, chosen))
    assert not same

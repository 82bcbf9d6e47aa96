"""Few cells: how the error is shared out between boxes of cells and claims on rows."""

from dataclasses import replace

import numpy as np
import pytest

import boundit as bd
from boundit.bounds import assemble
from boundit.bounds.claims.claim_rules import BOX_SHARE, find_forms, plan_claims
from boundit.bounds.claims.few_cells import (
    FEW_SHARE,
    LEVELS_SHARE,
    FewCells,
    choose_look,
    find_few,
    share_cells,
    share_few,
    share_levels,
)
from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.pilot import SplitRows, SplitSources, split_sources, thin
from boundit.bounds.claims.read_form import FormReader
from boundit.bounds.confidence import bound_share
from boundit.bounds.plan import plan_bounds
from boundit.bounds.rules.chain import find_least_mean
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import P
from tests.bounds.claims.tables import make_bare, make_binary

M, X, Y, Z = frozenset("M"), frozenset("X"), frozenset("Y"), frozenset("Z")
BACK_DOOR = LevelForm((Level(P(Z), {}), Level(P(Y, Z | X), {})), ("X",), "Y")
GRAPH = bd.parse_graph("Z -> X -> Y; Z -> Y")
ERROR, SPENT = 0.05, 0.05


def draw_counts(rng: np.random.Generator, n_rows: int, rare: float) -> tuple[Floats, Floats]:
    """Draw rows by stratum, arm and reward, the second arm ``rare`` in the first stratum."""
    strata, means = rng.dirichlet([3.0, 3.0]), rng.uniform(0.05, 0.95, (2, 2))
    arms = np.array([[1 - rare, rare], [0.5, 0.5]])
    rewards = np.stack([1 - means, means], axis=-1)
    law = strata[:, None, None] * arms[:, :, None] * rewards
    truth: Floats = (strata[:, None] * means).sum(axis=0)
    return rng.multinomial(n_rows, law.ravel()).reshape(2, 2, 2).astype(float), truth


def share(sources: SplitSources, n_strata: int = 2, n_arms: int = 2) -> FewCells:
    """Share the error of a back door out."""
    return share_cells(BACK_DOOR, sources, {"X": n_arms, "Z": n_strata}, ERROR, SPENT)


def add_up(found: FewCells) -> float:
    """Add up all that cells and claims may miss."""
    first, last = (found.cells[level.term].errors.values for level in BACK_DOOR.levels)
    return float(first.sum() + last.sum() + found.row_errors.sum())


def shuffle_rewards(counts: Floats, rng: np.random.Generator) -> Floats:
    """Give other rewards to the rows of every cell."""
    rows = counts.sum(axis=-1)
    won = rng.integers(0, rows + 1).astype(float)
    return np.stack([rows - won, won], axis=-1)


def test_all_parts_together_are_no_more_than_the_error() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        n_strata, n_arms = rng.integers(2, 5, 2)
        counts = rng.integers(0, 80, (n_strata, n_arms, 2)) * rng.integers(
            0, 2, (n_strata, 1, 1)
        )
        counts[0] += 1
        sources = split_sources(make_binary("ZX", counts.astype(float)), ())
        found = share(sources, int(n_strata), int(n_arms))
        assert add_up(found) <= (1 - SPENT) * ERROR + 1e-12
        assert (found.row_errors > 0).all()


def test_no_reward_has_a_say_not_even_the_pilots() -> None:
    rng = np.random.default_rng(1)
    for rare in (0.02, 0.5):
        counts, _ = draw_counts(rng, 1_500, rare)
        pilot = rng.binomial(counts.astype(int), 0.04).astype(float)
        rest = counts - pilot
        shared = list[FewCells]()
        for _ in range(6):
            one = make_binary("ZX", shuffle_rewards(pilot, rng))
            two = make_binary("ZX", shuffle_rewards(rest, rng))
            split = SplitRows(one, (two,), (two,))
            shared.append(share(SplitSources(split, (split,))))
        for other in shared[1:]:
            assert (other.row_errors == shared[0].row_errors).all()
            for term, cells in other.cells.items():
                assert (cells.errors.values == shared[0].cells[term].errors.values).all()


def test_columns_of_the_rest_share_a_rows_part_and_never_change_it() -> None:
    rng = np.random.default_rng(2)
    counts, _ = draw_counts(rng, 1_500, 0.1)
    pilot, rest = thin(make_binary("ZX", counts), 0.04, rng)
    size = rest.table.rows
    found = list[FewCells]()
    for _ in range(5):
        moved = rng.multinomial(int(size), rng.dirichlet(np.ones(8))).reshape(2, 2, 2)
        other = make_binary("ZX", moved.astype(float))
        split = SplitRows(pilot, (other,), (other,))
        found.append(share(SplitSources(split, (split,))))
    last = BACK_DOOR.last.term
    whole = [each.cells[last].errors.values.sum(axis=-1) for each in found]
    for each, total in zip(found[1:], whole[1:], strict=True):
        assert each.row_errors == pytest.approx(found[0].row_errors)
        assert total == pytest.approx(whole[0])


def test_a_cell_that_outweighs_the_others_leaves_most_of_the_error_to_boxes() -> None:
    counts = np.full((2, 2, 2), 4_000.0)
    counts[0, 1] = 30.0
    found = share(split_sources(make_binary("ZX", counts), ()))
    of_means = found.cells[BACK_DOOR.last.term].errors.values
    parts = of_means.sum(axis=-1) / (of_means.sum(axis=-1) + found.row_errors)
    assert parts == pytest.approx([BOX_SHARE, FEW_SHARE])
    assert of_means[1, 0] > 3 * of_means[1, 1]


def test_of_many_cells_boxes_need_less_of_the_error() -> None:
    parts = list[float]()
    for n_strata in (2, 4, 12):
        counts = np.full((n_strata, 2, 2), 4_000.0)
        counts[0] *= n_strata
        counts[0, 1] = 30.0
        found = share(split_sources(make_binary("ZX", counts), ()), n_strata)
        of_row = found.cells[BACK_DOOR.last.term].errors.values[1].sum()
        parts.append(float(of_row / (of_row + found.row_errors[1])))
    assert parts[0] > parts[1] > parts[2] > BOX_SHARE
    assert parts[2] <= 0.3


def test_more_rows_are_looked_at_where_the_pilot_has_doubts() -> None:
    even, rare = np.full((2, 2, 2), 4_000.0), np.full((2, 2, 2), 4_000.0)
    rare[0, 1] = 30.0
    clear, doubtful = (split_sources(make_binary("ZX", n), ()) for n in (even, rare))
    assert share(clear).look == 0
    assert share(doubtful).look == choose_look(rare.sum()) == pytest.approx(0.03 + 500 / 24_060)
    looked = doubtful.look_at(Z | X, 0.05, np.random.default_rng(0))
    assert share(looked).look == 0
    # A log that is read for its rewards alone may show all of its columns.
    form = LevelForm((Level(P(Z, logged=False), {}), Level(P(Y, Z | X), {})), ("X",), "Y")
    census = make_bare("Z", np.array([300.0, 700.0]))
    sources = split_sources(make_binary("ZX", rare), (census,))
    assert share_cells(form, sources, {"X": 2, "Z": 2}, ERROR, SPENT).look == 1


def test_what_is_looked_at_moves_rows_and_never_the_boxes_of_weights() -> None:
    """Those read the rows that were looked at, so that the pilot alone may choose for them."""
    rng = np.random.default_rng(6)
    counts, _ = draw_counts(rng, 1_500, 0.1)
    sources = split_sources(make_binary("ZX", counts), ())
    found = list[FewCells]()
    for seen in ([[60, 60], [60, 60]], [[90, 1], [60, 60]], [[1, 90], [1, 60]]):
        looked = NamedArray(("Z", "X"), np.array(seen, dtype=float))
        split = replace(sources.log, looked=looked)
        found.append(share(SplitSources(split, (split,))))
        assert add_up(found[-1]) <= (1 - SPENT) * ERROR + 1e-12
    first = BACK_DOOR.levels[0].term
    for each in found:
        assert (each.cells[first].errors.values == found[0].cells[first].errors.values).all()
        assert each.cells[first].source is sources.log.rewarded[0]
    assert (found[1].row_errors != found[0].row_errors).any()


def test_exact_weights_need_no_error() -> None:
    counts = np.random.default_rng(3).integers(20, 90, (2, 2, 2)).astype(float)
    form = LevelForm((Level(P(Z, logged=False), {}), BACK_DOOR.last), ("X",), "Y")
    law = make_bare("Z", np.array([0.3, 0.7]), exact=True)
    sources = split_sources(make_binary("ZX", counts), (law,))
    found = share_cells(form, sources, {"X": 2, "Z": 2}, ERROR, SPENT)
    assert not found.cells[form.levels[0].term].errors.values.any()


def test_few_cells_are_those_of_one_sum() -> None:
    query = bd.parse_query("Y | do(X)")
    levels = {"X": 2, "Y": 2, "Z": 2, "M": 2}
    for graph in ("Z -> X -> Y; Z -> Y", "X -> M -> Y; X <-> Y"):
        plan = plan_bounds(bd.parse_graph(graph), query)
        claims = plan_claims(plan, find_forms(plan), levels, 5_000.0)
        assert claims is not None
        assert find_few(claims, levels) is not None
        # Of a back door strata may be many, as long as the table's cells are not too many.
        many = find_few(claims, {**levels, "Z": 9, "M": 9})
        assert (many is None) == ("M" in graph)
        assert find_few(claims, {**levels, "Z": 20_000, "M": 9}) is None
    # Of several sums the value of each must be given all columns that were looked at.
    for graph, found in (
        ("A -> B; A -> X; B -> Y; X -> Y; B -> X", True),
        ("Z -> X; X -> M -> Y; Z -> Y", False),
    ):
        plan = plan_bounds(bd.parse_graph(graph), query)
        sizes = {**levels, "A": 2, "B": 2}
        claims = plan_claims(plan, find_forms(plan), sizes, 5_000.0)
        assert claims is not None
        assert len(claims.rules) > 1
        assert (find_few(claims, sizes) is not None) == found
    # What is unknown of a law is no sum over few cells.
    bow = plan_bounds(bd.parse_graph("Z -> X -> Y; X <-> Y"), query)
    claims = plan_claims(bow, find_forms(bow), levels, 5_000.0)
    assert claims is None or find_few(claims, levels) is None


def bound_widths(counts: Floats) -> tuple[Floats, Floats]:
    """Bound both arms of a back door by default; return lower and upper ends."""
    cells = np.argwhere(counts > 0)
    log = bd.read_log(
        {"Z": cells[:, 0], "X": cells[:, 1], "Y": cells[:, 2], "n": counts[counts > 0]},
        weight="n",
    )
    table = bd.derive_bounds(GRAPH, bd.parse_query("Y | do(X)"), log, confidence=0.95)
    rows = list(table.rows())
    return (
        np.array([row["lower"] for row in rows], dtype=float),
        np.array([row["upper"] for row in rows], dtype=float),
    )


def bound_boxes(counts: Floats) -> Floats:
    """Find how wide both arms are if every cell has an even part of all of the error."""
    rows, strata = counts.sum(axis=-1), counts.sum(axis=(1, 2))
    even = 0.05 / (1 + int((rows > 0).sum()))
    low, high = bound_share(counts[..., 1], rows, even)
    weights = bound_share(strata, np.full(2, strata.sum()), even)
    found = [
        -find_least_mean(*weights, -high[:, arm]) - find_least_mean(*weights, low[:, arm])
        for arm in (0, 1)
    ]
    return np.array(found)


def test_rows_of_few_cells_hold_and_are_hardly_wider_than_boxes_with_all_of_the_error() -> None:
    rng = np.random.default_rng(5)
    ratios, missed, n_logs = list[Floats](), 0, 60
    for place in range(n_logs):
        counts, truth = draw_counts(rng, 700, (0.03, 0.1)[place % 2])
        low, high = bound_widths(counts)
        missed += bool(((truth < low) | (truth > high)).any())
        ratios.append((high - low) / bound_boxes(counts))
    assert missed <= 0.05 * n_logs
    assert np.max(ratios) <= 1.05


@pytest.mark.parametrize("n_strata", [3, 6, 10])
def test_skewed_strata_hold_and_are_hardly_wider_than_boxes_with_all_of_the_error(
    n_strata: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strata and arms of all sizes, some of them with a few rows; boxes as if nothing else."""
    rng = np.random.default_rng(n_strata)
    ratios, missed, n_logs = list[Floats](), 0, 40
    for place in range(n_logs):
        strata = rng.dirichlet(np.ones(n_strata))
        arms = 0.98 * rng.dirichlet([0.5, 0.5], n_strata) + 0.01
        means = rng.uniform(0.05, 0.95, (n_strata, 2))
        law = (strata[:, None] * arms)[..., None] * np.stack([1 - means, means], axis=-1)
        counts = rng.multinomial((1_000, 4_000)[place % 2], law.ravel()).reshape(law.shape)
        low, high = bound_widths(counts.astype(float))
        truth = strata @ means
        missed += bool(((truth < low) | (truth > high)).any())
        with monkeypatch.context() as without:
            without.setattr(assemble, "plan_claims", lambda *_, **__: None)
            least, most = bound_widths(counts.astype(float))
        ratios.append((high - low) / (most - least))
    assert missed <= 0.05 * n_logs
    assert np.mean(np.array(ratios) > 1.05) <= 0.04
    assert np.mean(ratios) < 0.9


FRONT_DOOR = LevelForm(
    (Level(P(X), {"X": "X'"}), Level(P(M, X), {}), Level(P(Y, M | X), {"X": "X'"})), ("X",), "Y"
)
FRONT_GRAPH = bd.parse_graph("X -> M -> Y; X <-> Y")


def draw_front_door(
    rng: np.random.Generator, n_rows: int, rare: float
) -> tuple[Floats, Floats]:
    """Draw rows by arm, mediator and reward, the second arm ``rare``."""
    arms, moved = np.array([1 - rare, rare]), rng.uniform(0.1, 0.9, 2)
    mediator, means = np.stack([1 - moved, moved], axis=-1), rng.uniform(0.05, 0.95, (2, 2))
    law = (arms[:, None] * mediator)[..., None] * np.stack([1 - means, means], axis=-1)
    truth: Floats = mediator @ (arms[:, None] * means).sum(axis=0)
    return rng.multinomial(n_rows, law.ravel()).reshape(2, 2, 2).astype(float), truth


def share_front_door(sources: SplitSources, n_arms: int = 2, n_levels: int = 2) -> FewCells:
    """Share the error of a front door out."""
    sizes = {"X": n_arms, "M": n_levels, "Y": 2}
    reader = FormReader.of(FRONT_DOOR, sources, sizes, Workspace.make_default())
    return share_levels(reader, ERROR, SPENT)


def test_front_doors_spend_no_more_than_the_error() -> None:
    rng = np.random.default_rng(10)
    for _ in range(40):
        n_arms, n_levels = rng.integers(2, 5, 2)
        counts = rng.integers(0, 80, (n_arms, n_levels, 2)) * rng.integers(0, 2, (n_arms, 1, 1))
        counts[0] += 1
        sources = split_sources(make_binary("XM", counts.astype(float)), ())
        found = share_front_door(sources, int(n_arms), int(n_levels))
        spent = sum(float(each.errors.values.sum()) for each in found.cells.values())
        assert spent + found.row_errors.sum() <= (1 - SPENT) * ERROR + 1e-12
        assert (found.row_errors > 0).all()
        assert all((each.errors.values >= 0).all() for each in found.cells.values())


def test_no_reward_has_a_say_in_front_doors() -> None:
    rng = np.random.default_rng(11)
    for rare in (0.02, 0.5):
        counts, _ = draw_front_door(rng, 1_500, rare)
        pilot = rng.binomial(counts.astype(int), 0.04).astype(float)
        shared = list[FewCells]()
        for _ in range(6):
            one = make_binary("XM", shuffle_rewards(pilot, rng))
            two = make_binary("XM", shuffle_rewards(counts - pilot, rng))
            split = SplitRows(one, (two,), (two,))
            shared.append(share_front_door(SplitSources(split, (split,))))
        for other in shared[1:]:
            assert (other.row_errors == shared[0].row_errors).all()
            for term, cells in other.cells.items():
                assert (cells.errors.values == shared[0].cells[term].errors.values).all()


def test_columns_of_the_rest_share_what_the_value_has_of_front_doors_and_no_more() -> None:
    rng = np.random.default_rng(12)
    counts, _ = draw_front_door(rng, 1_500, 0.1)
    pilot, rest = thin(make_binary("XM", counts), 0.04, rng)
    found = list[FewCells]()
    for _ in range(5):
        moved = rng.multinomial(int(rest.table.rows), rng.dirichlet(np.ones(8)))
        other = make_binary("XM", moved.reshape(2, 2, 2).astype(float))
        split = SplitRows(pilot, (other,), (other,))
        found.append(share_front_door(SplitSources(split, (split,))))
    last = FRONT_DOOR.last.term
    for each in found:
        assert (each.row_errors == found[0].row_errors).all()
        for level in FRONT_DOOR.levels[:-1]:
            mine, first = each.cells[level.term], found[0].cells[level.term]
            assert (mine.errors.values == first.errors.values).all()
            # What the pilot's columns chose for these may hold of no row of the pilot.
            assert mine.source is not None
            assert mine.source.table.rows == rest.table.rows
        assert each.cells[last].source is None
        total = found[0].cells[last].errors.values.sum()
        assert each.cells[last].errors.values.sum() == pytest.approx(total)


def test_a_rare_arm_of_a_front_door_leaves_most_of_its_error_to_boxes() -> None:
    rare, even = np.full((2, 2, 2), 4_000.0), np.full((2, 2, 2), 4_000.0)
    rare[1] = 60.0
    one, two = (
        share_front_door(split_sources(make_binary("XM", counts), ()))
        for counts in (rare, even)
    )
    whole = (1 - SPENT) * ERROR
    assert one.row_errors == pytest.approx(
        [whole / 5 * (1 - BOX_SHARE), whole * 4 / 5 * (1 - LEVELS_SHARE)]
    )
    assert two.row_errors == pytest.approx([whole / 2 * (1 - BOX_SHARE)] * 2)
    of_mediator = one.cells[P(M, X)].errors.values
    assert of_mediator[1] > 10 * of_mediator[0]


def test_an_exact_law_of_a_front_door_needs_no_error() -> None:
    counts = np.random.default_rng(13).integers(20, 90, (2, 2, 2)).astype(float)
    known = Level(P(X, logged=False), {"X": "X'"})
    form = LevelForm((known, *FRONT_DOOR.levels[1:]), ("X",), "Y")
    law = make_bare("X", np.array([0.3, 0.7]), exact=True)
    sources = split_sources(make_binary("XM", counts), (law,))
    sizes = {"X": 2, "M": 2, "Y": 2}
    found = share_few(form, sources, sizes, Workspace.make_default(), ERROR, SPENT)
    assert not found.cells[known.term].errors.values.any()
    spent = sum(float(each.errors.values.sum()) for each in found.cells.values())
    assert spent + found.row_errors.sum() == pytest.approx((1 - SPENT) * ERROR)


def bound_front_door(counts: Floats) -> tuple[Floats, Floats]:
    """Bound both arms of a front door by default; return lower and upper ends."""
    cells = np.argwhere(counts > 0)
    log = bd.read_log(
        {"X": cells[:, 0], "M": cells[:, 1], "Y": cells[:, 2], "n": counts[counts > 0]},
        weight="n",
    )
    table = bd.derive_bounds(FRONT_GRAPH, bd.parse_query("Y | do(X)"), log, confidence=0.95)
    rows = list(table.rows())
    return (
        np.array([row["lower"] for row in rows], dtype=float),
        np.array([row["upper"] for row in rows], dtype=float),
    )


def test_front_doors_hold_and_are_hardly_wider_than_boxes_with_all_of_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(15)
    ratios, missed, n_logs = list[Floats](), 0, 60
    for place in range(n_logs):
        counts, truth = draw_front_door(rng, 1_000, (0.05, 0.1, 0.2)[place % 3])
        low, high = bound_front_door(counts)
        missed += bool(((truth < low) | (truth > high)).any())
        with monkeypatch.context() as without:
            without.setattr(assemble, "plan_claims", lambda *_, **__: None)
            least, most = bound_front_door(counts)
        ratios.append((high - low) / (most - least))
    assert missed <= 0.05 * n_logs
    assert np.mean(np.array(ratios) > 1.05) <= 0.03
    assert np.max(ratios) <= 1.12
    assert np.mean(ratios) < 0.9

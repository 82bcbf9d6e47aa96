import pytest

from boundit_research.paper.offline_bounds import run_offline_study


def test_the_exact_bounds_hold_the_truth_and_lie_within_the_worst_case() -> None:
    """The appendix's model with C1 hidden: the worst case over I1 by hand from the CPT."""
    study = run_offline_study(points=2_000, seed=3)
    first, last = study.rows[0], study.rows[-1]

    assert len(study.rows) == 16
    assert all(row.truth in row.exact for row in study.rows)
    assert 0.165217 <= first.exact.lower < first.exact.upper <= 0.374511
    assert first.truth == pytest.approx(0.254167, abs=1e-6)
    assert (last.arm, last.context) == ((1, 1), (1, 1))


def test_four_printed_rows_miss_the_effect_of_the_printed_model() -> None:
    """D-4: rows 3, 4, 7 and 8; row 9 only by rounding."""
    rows = run_offline_study(points=500).rows

    assert [i + 1 for i, row in enumerate(rows) if row.printed_misses] == [3, 4, 7, 8]


def test_the_seed_repeats_the_study() -> None:
    assert run_offline_study(points=800, seed=5) == run_offline_study(points=800, seed=5)
    assert run_offline_study(points=800, seed=5).kept < 800

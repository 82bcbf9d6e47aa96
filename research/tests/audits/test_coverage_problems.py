import numpy as np
import pytest

from boundit.terms.rounding import ROUNDING
from boundit_research.audits.coverage_problems import (
    BINARY,
    FEWEST,
    MOST,
    draw_coverage_problems,
    read_place,
)


def test_exact_laws_give_sets_that_hold_the_truth_whatever_is_known() -> None:
    """Theorem by theorem elsewhere; here it makes the sets fit to hold intervals against."""
    known, pays = set[str](), set[bool]()
    for problem, _ in draw_coverage_problems(1, 15):
        exact, truth = problem.bound_law(), problem.find_truth()
        known |= {*problem.facts, *(["tables"] if problem.tables else [])}
        pays.add(problem.pay == BINARY)
        for key, bound in exact.bounds.items():
            value = truth[read_place(key)]
            assert bound.lower - ROUNDING <= value <= bound.upper + ROUNDING, problem.model

    assert known == {"selection_rate", "selection_limit", "tables"}
    assert pays == {True, False}


def test_drawn_counts_have_as_many_rows_as_they_should() -> None:
    for problem, rng in draw_coverage_problems(1, 10):
        counts = problem.draw_counts(rng)

        assert len(counts) == 1 + len(problem.tables)
        assert [one.values.sum() for one in counts] == list(problem.sizes)
        assert all(FEWEST <= n <= MOST for n in problem.sizes)
        table = problem.bound_counts(counts, confidence=0.95, inference="exact")
        assert table.confidence == 0.95
        assert table.outcome_range == (0.0, 1.0)


def test_the_same_seed_draws_the_same_problems() -> None:
    (one, _), (two, _) = next(draw_coverage_problems(3, 1)), next(draw_coverage_problems(3, 1))

    assert str(one.model.graph) == str(two.model.graph)
    assert one.sizes == two.sizes
    assert one.find_truth() == pytest.approx(np.asarray(two.find_truth()))

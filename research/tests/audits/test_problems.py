import pytest

from boundit.bounds.derive import derive_bounds
from boundit_research.audits.problems import bound_problem, draw_problems
from tests.bounds.exact import as_log


def test_a_problem_is_bounded_as_derive_bounds_would() -> None:
    """The audit's short cut from laws to tables changes nothing."""
    for problem in draw_problems(5, 6):
        found = bound_problem(problem, "sound")
        model = problem.model
        peer = derive_bounds(
            model.graph,
            problem.query,
            as_log(model.log()),
            external=[as_log(model.law(table)) for table in problem.tables],
            confidence=None,
        )
        for key, bound in peer.bounds.items():
            assert bound.lower == pytest.approx(found.bounds[key].lower, abs=1e-9)
            assert bound.upper == pytest.approx(found.bounds[key].upper, abs=1e-9)


def test_a_problem_can_be_repeated_alone() -> None:
    one, other = list(draw_problems(7, 3)), list(draw_problems(7, 5))

    assert [str(p.query) for p in one] == [str(p.query) for p in other[:3]]
    assert [p.model.graph for p in one] == [p.model.graph for p in other[:3]]

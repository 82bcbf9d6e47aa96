"""A partition of boxes: the end holds whenever the search stops, and comes down to the best."""

import numpy as np
import pytest

from boundit.bounds.lp.branch_and_bound import BoxBound, ProbabilityBox, search_boxes

UNIT = ProbabilityBox(np.zeros(2), np.ones(2))


def solve_box(box: ProbabilityBox) -> BoxBound:
    """An outer program for ``p q + p``: each factor is at most its upper end."""
    p, q = box.high
    return BoxBound(p * q + p, (box.low + box.high) / 2, box.high - box.low)


def read_end(found: BoxBound | None) -> float:
    assert found is not None
    return found.end


BEST = max(p * (1 - p) + p for p in np.linspace(0, 1, 1001))


@pytest.mark.parametrize("most", [1, 2, 5, 40, 400])
def test_the_end_holds_wherever_the_search_stops(most: int) -> None:
    assert read_end(search_boxes(UNIT, solve_box, most=most)) >= BEST


def test_more_boxes_never_widen() -> None:
    ends = [
        read_end(search_boxes(UNIT, solve_box, most=most))
        for most in (1, 3, 9, 27, 81, 243, 729)
    ]
    assert ends == sorted(ends, reverse=True)
    assert ends[-1] == pytest.approx(BEST, abs=0.01)
    assert ends[0] == 2.0


def test_a_box_in_which_nothing_fits_is_left_out() -> None:
    def never_small(box: ProbabilityBox) -> BoxBound | None:
        return None if box.low[0] > 0.5 else solve_box(box)

    found = read_end(search_boxes(UNIT, never_small, most=200))
    assert found == pytest.approx(0.5 * 0.5 + 0.5, abs=0.02)
    assert search_boxes(UNIT, lambda _: None) is None


def test_nothing_fits_when_no_half_does() -> None:
    def only_whole(box: ProbabilityBox) -> BoxBound | None:
        return solve_box(box) if box is UNIT else None

    assert search_boxes(UNIT, only_whole) is None


def test_a_point_is_looked_at_once() -> None:
    seen: list[ProbabilityBox] = []

    def counted(box: ProbabilityBox) -> BoxBound:
        seen.append(box)
        return solve_box(box)

    point = np.array([0.3, 0.7])
    assert read_end(search_boxes(ProbabilityBox(point, point), counted)) == pytest.approx(
        0.3 * 0.7 + 0.3
    )
    assert len(seen) == 1


def test_chances_add_up_to_one() -> None:
    left, right = ProbabilityBox(np.zeros(3), np.ones(3)).split(0, 0.7)
    assert left.high.tolist() == [0.7, 1.0, 1.0]
    np.testing.assert_allclose(right.high, [1.0, 0.3, 0.3])


def test_who_is_late_keeps_what_was_found() -> None:
    assert read_end(search_boxes(UNIT, solve_box, is_late=lambda: True)) == 2.0

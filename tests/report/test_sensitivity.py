import pytest

from boundit.report.errors import NothingToDraw
from boundit.report.records import Ladder
from boundit.report.sensitivity import left_out, sensitivity_figure, sensitivity_panels
from tests.report.examples import y_of


def ladders(n: int) -> list[Ladder]:
    return [
        Ladder(f"arm {i}", (1, 2, 10), (0.5, 0.4, 0.1), (0.5, 0.6, 0.8 + i / 100))
        for i in range(n)
    ]


def test_each_arm_has_a_panel_with_its_two_ends() -> None:
    first, second = sensitivity_figure(ladders(2)).axes

    assert y_of(first.lines[0]) == [0.5, 0.4, 0.1]
    assert y_of(first.lines[1]) == [0.5, 0.6, 0.8]
    assert first.get_ylim() == second.get_ylim()


def test_limits_far_apart_are_counted_in_factors() -> None:
    (far,) = sensitivity_figure(ladders(1)).axes
    (near,) = sensitivity_figure([Ladder("a", (1, 1.5), (0.1, 0.1), (0.2, 0.3))]).axes

    assert far.get_xscale() == "log"
    assert [tick.get_text() for tick in far.get_xticklabels()] == ["1", "2", "10"]
    assert near.get_xscale() == "linear"


def test_what_is_left_out_is_said() -> None:
    assert len(sensitivity_panels(ladders(13))) == 12
    assert left_out(ladders(13)) == "Shown are the first 12 of 13."
    assert left_out(ladders(12)) == ""


@pytest.mark.parametrize("given", [[], [Ladder("a", (float("inf"),), (0,), (1,))]])
def test_without_a_finite_limit_there_is_nothing_to_draw(given: list[Ladder]) -> None:
    with pytest.raises(NothingToDraw, match="finite limit"):
        sensitivity_figure(given)

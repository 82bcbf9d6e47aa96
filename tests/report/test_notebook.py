"""What people see who type a name: short as text, and HTML where there is something to see."""

import pytest

import boundit as bd
from tests.report.notebook_examples import make_results


@pytest.mark.parametrize("name", make_results())
def test_every_result_is_a_short_line_and_a_small_piece_of_html(name: str) -> None:
    result = make_results()[name]

    assert len(repr(result)) < 250
    assert "\n" not in repr(result)
    shown = result._repr_html_()  # type: ignore[attr-defined]
    assert len(shown) < 60_000
    assert shown.count("<div") == shown.count("</div>")


def test_other_public_values_are_short_too() -> None:
    world = bd.simulation.flipped_environment()
    bounds = make_results()["bounds"]
    assert isinstance(bounds, bd.BoundTable)
    key = next(iter(bounds.bounds))
    values = (
        world,
        world.model,
        bd.read_log(world.log(50, seed=1)),
        bd.Fused(prior=bounds),
        bounds.choose()[key[1]],
        bounds.bounds[key],
        bounds[key],
    )
    for value in values:
        assert len(repr(value)) < 500, type(value)

"""Why chance moves the end of a mean of the population."""

import numpy as np
import pytest

from boundit.bounds.claims.selection.explain_selection import SelectionRows
from tests.bounds.claims.selection.worlds import (
    BOW,
    LIMIT,
    MEDIATOR,
    RATE,
    draw_law,
    find_mean,
    make_claims,
)


def test_rows_of_great_weight_are_the_heaviest() -> None:
    law = draw_law(np.random.default_rng(4), (2, 3, 2))
    claims = make_claims(find_mean(MEDIATOR, LIMIT), np.rint(5_000 * law), "XMY")
    found = SelectionRows(claims).explain((1,), upper=False)
    assert found is not None
    assert found.effective_rows is not None
    of_arm = 5_000 * law[1].sum()
    assert of_arm / 4 < found.effective_rows < of_arm, "weights are between 1/2 and 2"
    assert sum(cell.share for cell in found.heaviest) == pytest.approx(1)
    assert {name for cell in found.heaviest for name, _ in cell.levels} == {"M"}
    assert found.boxes is None


def test_the_reward_names_no_kind() -> None:
    counts = np.array([[300.0, 200.0], [100.0, 400.0]])
    claims = make_claims(find_mean(BOW, RATE), counts, "XY")
    found = SelectionRows(claims).explain((1,), upper=True, boxes="few rows")
    assert found is not None
    assert found.boxes == "few rows"
    assert {cell.levels for cell in found.heaviest} <= {(("X", 0),), (("X", 1),)}

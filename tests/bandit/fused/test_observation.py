"""What rounds show, as leaves."""

import numpy as np
import pytest

from boundit.bandit.errors import BadObservation
from boundit.bandit.fused.observation import LeafReader
from boundit.terms.bound_errors import OutsideDomain
from tests.bandit.fused.plain_fused import draw_plan


def test_all_some_or_nothing_is_read() -> None:
    reader = LeafReader(draw_plan(0, (2, 3)))
    assert reader.read({"W0": 1, "W1": 2, "other": 4})[0] == 5
    assert reader.read({"W0": np.int64(0), "W1": np.int64(1)})[0] == 1
    leaf, fits = reader.read({"W1": 1})
    assert (leaf, fits.tolist()) == (-1, [False, True, False, False, True, False])
    assert reader.read({})[0] == -1
    assert reader.read(None)[1].all()
    assert LeafReader(draw_plan(0, ())).read(None)[0] == 0


def test_what_the_plan_does_not_know_is_refused() -> None:
    reader = LeafReader(draw_plan(0, (2, 3)))
    with pytest.raises(OutsideDomain):
        reader.read({"W1": 3})
    with pytest.raises(BadObservation):
        reader.read([("W1", 1)])  # type: ignore[arg-type]


def test_none_stands_for_what_was_not_seen() -> None:
    reader = LeafReader(draw_plan(0, (2, 3)))
    for shown, same in (({"W0": None, "W1": 1}, {"W1": 1}), ({"W0": None, "W1": None}, {})):
        leaf, may_be = reader.read(shown)
        assert leaf == reader.read(same)[0] == -1
        assert (may_be == reader.read(same)[1]).all()

"""The endless log of a model counts as the whole law written out does."""

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.counts.cells import GroupBy
from boundit.simulation import law_source
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.law_source import WEIGHT, LawSource, open_endless_log
from boundit.simulation.worlds import paper_world


def test_counts_are_those_of_the_whole_law() -> None:
    world = paper_world()
    ours = open_endless_log(world.model).count(["X1", "U1", "I1"], reward="Y")
    whole = world.exact_log().count(["X1", "U1", "I1"], reward="Y")

    assert ours.exact
    assert ours.levels == whole.levels
    assert np.array_equal(ours.codes, whole.codes)
    assert ours.n == pytest.approx(whole.n, abs=1e-12)
    assert ours.sums == pytest.approx(whole.sums, abs=1e-12)


def test_bounds_are_those_of_the_whole_law() -> None:
    world = paper_world()
    ours, whole = (
        derive_bounds(world.graph, world.query, log, confidence=None)
        for log in (open_endless_log(world.model), world.exact_log())
    )

    assert ours.bounds.keys() == whole.bounds.keys()
    for key, bound in ours.bounds.items():
        assert bound.lower == pytest.approx(whole.bounds[key].lower, abs=1e-12)
        assert bound.upper == pytest.approx(whole.bounds[key].upper, abs=1e-12)
    assert ours.caveats == whole.caveats


def test_a_law_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_source, "MOST_CELLS", 3)
    log = open_endless_log(paper_world().model)

    assert len(log.count(["X1"]).n) == 2
    with pytest.raises(ModelTooLarge, match="4 numbers over U1, X1"):
        log.count(["X1", "U1"])


def test_columns_are_numbers_without_an_oddity() -> None:
    source = LawSource(paper_world().model)

    assert set(source.kinds) == {"I1", "U1", "U2", "X1", "X2", "Y", WEIGHT}
    assert source.find_oddity("Y") is None
    assert source.count_levels(["X1", "Y"]) == [2, 2]
    assert source.group(GroupBy(("U1",), flags=("X1",)))["flag_0"].sum() == 2

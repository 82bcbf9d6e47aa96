"""The expected log of a model counts as its whole distribution does."""

import numpy as np
import pytest

from boundit.simulation.environments import paper_environment
from boundit.simulation.errors import ModelTooLarge
from boundit_research import expected_log
from boundit_research.expected_log import open_expected_log


def test_counts_are_those_of_the_whole_distribution() -> None:
    environment = paper_environment()
    ours = open_expected_log(environment.model).count(["X1", "U1", "I1"], reward="Y")
    whole = environment.exact_log().count(["X1", "U1", "I1"], reward="Y")

    assert ours.exact
    assert ours.levels == whole.levels
    assert np.array_equal(ours.codes, whole.codes)
    assert ours.n == pytest.approx(whole.n, abs=1e-12)
    assert ours.sums == pytest.approx(whole.sums, abs=1e-12)


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_log, "MOST_CELLS", 3)
    log = open_expected_log(paper_environment().model)

    assert len(log.count(["X1"]).n) == 2
    with pytest.raises(ModelTooLarge, match="4 numbers over U1, X1"):
        log.count(["X1", "U1"])

"""The expected log of a model counts as its whole distribution does."""

import numpy as np
import pytest

from boundit.counts.cells import GroupBy
from boundit.simulation import expected_log
from boundit.simulation.environments import make_paper_model, paper_environment
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.expected_log import (
    WEIGHT,
    ExpectedRows,
    open_expected_log,
    share_out,
)


def test_counts_are_those_of_the_whole_law() -> None:
    environment = paper_environment()
    ours = open_expected_log(environment.model).count(["X1", "U1", "I1"], reward="Y")
    whole = environment.exact_log().count(["X1", "U1", "I1"], reward="Y")

    assert ours.exact
    assert ours.levels == whole.levels
    assert np.array_equal(ours.codes, whole.codes)
    assert ours.n == pytest.approx(whole.n, abs=1e-12)
    assert ours.sums == pytest.approx(whole.sums, abs=1e-12)


def test_a_law_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_log, "MOST_CELLS", 3)
    log = open_expected_log(paper_environment().model)

    assert len(log.count(["X1"]).n) == 2
    with pytest.raises(ModelTooLarge, match="4 numbers over U1, X1"):
        log.count(["X1", "U1"])


def test_columns_are_numbers_without_an_oddity() -> None:
    source = ExpectedRows(paper_environment().model)

    assert set(source.kinds) == {"I1", "U1", "U2", "X1", "X2", "Y", WEIGHT}
    assert source.find_oddity("Y") is None
    assert source.count_levels(["X1", "Y"]) == [2, 2]
    assert source.group(GroupBy(("U1",), flags=("X1",)))["flag_0"].sum() == 2


def test_an_expected_log_has_whole_rows_by_the_law() -> None:
    model = make_paper_model()
    log = open_expected_log(model, 10_001)
    table = log.count(["U1", "I1"], reward="Y")

    assert table.rows == 10_001
    assert not table.exact
    law = model.log(["U1", "I1"]).align(("U1", "I1"))
    assert table.marginalize(("U1", "I1")).values / 10_001 == pytest.approx(law, abs=2e-4)
    assert np.array_equal(table.n, table.n.round())


def test_a_table_of_everyone_has_the_columns_and_levels_asked_for() -> None:
    model = make_paper_model()
    table = open_expected_log(
        model, 1_000, selected=False, names=frozenset({"I1"}), levels={"I1": ("no", "yes")}
    )

    assert table.columns == ("I1",)
    counted = table.count(["I1"])
    assert counted.levels["I1"] == ("no", "yes")
    assert counted.n / 1_000 == pytest.approx(model.distribution("I1").values, abs=1e-3)


def test_rows_are_shared_out_whole_and_none_is_lost() -> None:
    law = np.random.default_rng(0).dirichlet(np.ones(12)).reshape(3, 4)
    for rows in (1, 7, 1_000, 10**9):
        found = share_out(law, rows)
        assert found.sum() == rows
        assert np.abs(found - law * rows).max() < 1

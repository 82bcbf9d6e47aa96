import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import boundit as bd
from boundit.core.errors import MissingExtra
from boundit.decisions.sensitivity import Sensitivity

ROWS = [
    {"Ad": ad, "Age": age, "lower": 0.1, "upper": 0.6} for ad in "AB" for age in ("old", "new")
]
TABLE = bd.BoundTable.from_rows(
    ROWS, outcome="Click", treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
)
CURVE = Sensitivity("selection", (1.5, 3.0), (TABLE, TABLE))
REGRET = bd.simulate(
    bd.simulation.flipped_environment(), {"UCB": bd.UCB(), "TS": bd.TS()}, rounds=20, runs=3
)


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    mpl.use("agg")
    yield
    plt.close("all")


def test_a_table_has_axes_for_each_context_and_pyplot_shows_them() -> None:
    axes = TABLE.plot()

    assert len(axes) == 2
    assert all(isinstance(each, Axes) for each in axes)
    assert plt.get_fignums()
    assert plt.gcf() is axes[0].get_figure(root=True)


def test_a_curve_has_axes_for_each_arm_and_context() -> None:
    axes = CURVE.plot()

    assert [each.get_xlabel() for each in axes] == ["limit G"] * 4


def test_regret_gives_its_axes_with_a_curve_for_each_policy() -> None:
    axes = REGRET.plot()

    assert isinstance(axes, Axes)
    assert {text.get_text() for text in axes.texts} == {"UCB", "TS"}


def test_a_file_is_written_and_pyplot_left_alone(tmp_path: Path) -> None:
    shown = plt.get_fignums()
    for i, plot in enumerate((TABLE.plot, CURVE.plot, REGRET.plot)):
        assert plot(tmp_path / f"{i}.png")
        assert (tmp_path / f"{i}.png").read_bytes().startswith(b"\x89PNG")
    assert plt.get_fignums() == shown


def test_settings_of_the_user_stay_as_they_are() -> None:
    before = dict(mpl.rcParams)
    TABLE.plot()
    assert dict(mpl.rcParams) == before


def test_without_matplotlib_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"needs matplotlib; .* 'boundit\[plot\]'"):
        TABLE.plot()
    # Nothing but HTML is needed where a notebook shows it.
    assert "<table" in TABLE._repr_html_()
    assert "<svg" in REGRET._repr_html_()

"""``plot()``: the same charts by matplotlib, shown or saved."""

from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from boundit.core.errors import MissingExtra
from boundit.report import plot as plots
from boundit.report.plot import UnknownSuffix, plot_bounds
from tests.report.examples import small_table, worldly_table

mpl.use("agg")


def test_a_table_has_a_panel_for_each_context(tmp_path: Path) -> None:
    axes = small_table().plot(tmp_path / "bounds.png")

    assert [panel.get_title(loc="left") for panel in axes] == ["U1=0", "U1=1"]
    assert (tmp_path / "bounds.png").read_bytes().startswith(b"\x89PNG")
    low, high = axes[0].get_xlim()
    assert low < 0.1
    assert high > 0.9


def test_an_effect_is_drawn_around_zero_and_files_repeat(tmp_path: Path) -> None:
    effect = small_table().effect((1, 1), (0, 0))
    (axes,) = effect.plot(tmp_path / "one.svg")
    effect.plot(tmp_path / "two.svg")

    assert axes.get_xlim()[0] < 0 < axes.get_xlim()[1]
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_names_in_any_script_are_drawn(tmp_path: Path) -> None:
    assert plot_bounds(worldly_table(), tmp_path / "worldly.svg")


def test_without_a_path_pyplot_shows_it() -> None:
    before = set(plt.get_fignums())
    axes = small_table().plot()
    assert set(plt.get_fignums()) - before
    assert len(axes) == 2
    plt.close("all")


def test_a_file_of_no_known_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownSuffix, match=r"ends in \.png or \.svg"):
        small_table().plot(tmp_path / "bounds.jpg")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="plot"):
        small_table().plot()

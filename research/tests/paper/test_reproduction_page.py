import re
from dataclasses import replace
from pathlib import Path

import pytest
from research.tests.small_reproduction import reproduce_small

from boundit.core.errors import CannotWrite
from boundit.report.plot import plot
from boundit_research.paper.reproduction_page import (
    FIGURES,
    make_reproduction_page,
    write_reproduction,
)


def test_the_page_has_every_part_and_says_what_made_it() -> None:
    page = make_reproduction_page(reproduce_small(), command="boundit reproduce --seed 4")

    for part in (
        "What the paper claims",
        "The offline table",
        "cumulative regret",
        "OAM-PCB",
        "Fused",
    ):
        assert part in page
    assert "boundit reproduce --seed 4" in page
    titles = re.findall("<h2>(.*?)</h2>", page)
    shown = [
        "The offline table",
        "The offline figure",
        "The paper&#39;s world: the policy that",
    ]
    assert [title[: len(part)] for title, part in zip(titles, shown, strict=False)] == shown
    assert titles.index("Arms that are ruled out") < titles.index("What the paper claims")
    assert page.count(" misses</td>") >= 4


def test_every_figure_of_curves_says_what_its_bands_are() -> None:
    page = make_reproduction_page(reproduce_small(), command="x")

    band = "Bands are pointwise 95% intervals of the paired difference from LinUCB"
    assert page.count(band) == 6


def test_a_caption_says_no_more_than_the_figure_shows(tmp_path: Path) -> None:
    """One policy and a single run have no bands, in a saved figure neither."""
    regret = reproduce_small().online.paper.regret
    alone = replace(regret, curves=regret.curves[:, :1])

    assert "paired difference from UCB" in regret.only("UCB", "TS").caption
    assert (
        regret.only("UCB").caption
        == "Means of 3 runs of 150 rounds; the thin lines are medians."
    )
    assert alone.caption == "One run of 150 rounds."
    regret.plot(tmp_path / "one.svg")
    plot(regret.chart, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_the_same_numbers_give_the_same_page() -> None:
    assert make_reproduction_page(reproduce_small(), command="x") == make_reproduction_page(
        reproduce_small(), command="x"
    )


def test_the_figures_lie_beside_the_page(tmp_path: Path) -> None:
    written = write_reproduction(reproduce_small(), tmp_path / "a" / "b", command="x")

    beside = {path.name for path in written.parent.iterdir()}
    assert beside == {"report.html"} | {
        f"{f}.{kind}" for f in FIGURES for kind in ("png", "svg")
    }


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(CannotWrite, match="cannot write"):
        write_reproduction(reproduce_small(), tmp_path / "file" / "x", command="x")

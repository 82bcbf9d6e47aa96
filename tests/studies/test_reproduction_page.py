from pathlib import Path

import pytest

from boundit.studies.reproduction_page import (
    FIGURES,
    reproduction_page,
    write_reproduction,
)
from boundit.terms.bound_errors import CannotWrite
from tests.studies.small_reproduction import small


def test_the_page_has_every_part_and_says_what_made_it() -> None:
    page = reproduction_page(small(), command="boundit reproduce --seed 4")

    for part in ("What the paper claims", "The offline table", "cumulative regret", "OAM-PCB"):
        assert part in page
    assert "boundit reproduce --seed 4" in page
    assert page.count(">misses<") >= 4


def test_the_same_numbers_give_the_same_page() -> None:
    assert reproduction_page(small(), command="x") == reproduction_page(small(), command="x")


def test_the_figures_lie_beside_the_page(tmp_path: Path) -> None:
    written = write_reproduction(small(), tmp_path / "a" / "b", command="x")

    beside = {path.name for path in written.parent.iterdir()}
    assert beside == {"report.html"} | {
        f"{f}.{kind}" for f in FIGURES for kind in ("png", "svg")
    }


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(CannotWrite, match="cannot write"):
        write_reproduction(small(), tmp_path / "file" / "x", command="x")

"""Bounds against the limit, by the command itself."""

from pathlib import Path

import pytest

from boundit.cli.main import main
from tests.cli.pharmacy import bound_pharmacy, write_pharmacy


@pytest.fixture(scope="module")
def pharmacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pharmacy(tmp_path_factory.mktemp("example"))


def test_bounds_against_the_limit_are_drawn_and_narrow_towards_one(
    pharmacy: Path, tmp_path: Path
) -> None:
    picture, page = tmp_path / "limits.svg", tmp_path / "limits.html"

    assert (
        bound_pharmacy(pharmacy, "--sensitivity-plot", str(picture), "--report", str(page)) == 0
    )
    assert "call | older" in picture.read_text(encoding="utf-8")
    assert "limit G" in page.read_text(encoding="utf-8")


def test_a_picture_of_another_kind_is_refused_in_one_line(
    pharmacy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bound_pharmacy(pharmacy, "--sensitivity-plot", str(tmp_path / "limits.jpg")) == 2
    assert "limits.jpg' must be a file whose name ends in .png" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_bounds_against_a_limit_on_confounding_are_drawn_and_in_the_report(
    pharmacy: Path, tmp_path: Path
) -> None:
    graph = tmp_path / "bow.txt"
    graph.write_text("Age -> Reminder -> Refill; Age -> Refill; Reminder <-> Refill")
    picture, page = tmp_path / "limits.svg", tmp_path / "limits.html"
    options = ["--confounding-plot", str(picture), "--report", str(page)]
    with pytest.raises(SystemExit) as left:
        main(
            [
                "bound",
                str(graph),
                "Refill | do(Reminder), Age",
                str(pharmacy / "log.csv"),
                *options,
            ]
        )

    assert left.value.code == 0
    assert "call | older" in picture.read_text(encoding="utf-8")
    assert "limit on Refill &lt;-&gt; Reminder" in page.read_text(encoding="utf-8")


def test_one_edge_must_be_named_for_a_plot_of_its_limit(
    pharmacy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "plain.txt"
    graph.write_text("Age -> Reminder -> Refill; Age -> Refill")
    options = ["--confounding-plot", str(tmp_path / "limits.svg")]
    with pytest.raises(SystemExit) as left:
        main(
            [
                "bound",
                str(graph),
                "Refill | do(Reminder), Age",
                str(pharmacy / "log.csv"),
                *options,
            ]
        )

    assert left.value.code == 2
    assert "it draws one edge's limit, found none" in capsys.readouterr().err

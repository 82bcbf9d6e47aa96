"""Pages and pictures of ``boundit bound``, by the command itself."""

from pathlib import Path

import pytest

from boundit.cli.main import main


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    with pytest.raises(SystemExit) as left:
        main(["init", str(folder / "pharmacy")])
    assert left.value.code == 0
    return folder / "pharmacy"


def bound(shop: Path, *options: str) -> int:
    question = "Refill | do(Reminder), Age"
    with pytest.raises(SystemExit) as left:
        main(["bound", str(shop / "graph.txt"), question, str(shop / "log.csv"), *options])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_the_page_holds_the_table_and_the_command(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"

    assert bound(shop, "--report", str(out)) == 0
    page = out.read_text(encoding="utf-8")
    assert "conditioning on" in page
    assert "younger" in page
    assert "<svg" in page


def test_bounds_against_the_limit_are_drawn_and_narrow_towards_one(
    shop: Path, tmp_path: Path
) -> None:
    picture, page = tmp_path / "limits.svg", tmp_path / "limits.html"

    assert bound(shop, "--sensitivity-plot", str(picture), "--report", str(page)) == 0
    assert "call | older" in picture.read_text(encoding="utf-8")
    assert "limit G" in page.read_text(encoding="utf-8")


def test_a_picture_of_another_kind_is_refused_in_one_line(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bound(shop, "--sensitivity-plot", str(tmp_path / "limits.jpg")) == 2
    assert "limits.jpg' must be a file whose name ends in .png" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--selection-rate", "much"), "'much' is no rate; write 0.4, or 0.3,0.6 for a range"),
        (("--selection-rate", "0"), "'--selection-rate': at a rate of 0 nobody is logged"),
        (("--sensitivity", "0.2"), "'--sensitivity': 0.2 is not in the range x>=1"),
        (("--plug-in", "--confidence", "0.9"), "--plug-in neglects sampling error"),
    ],
)
def test_facts_that_make_no_sense_are_refused_in_one_line(
    shop: Path, options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bound(shop, *options) == 2
    assert said in capsys.readouterr().err


def test_the_selection_rate_narrows(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bound(shop)
    wide = capsys.readouterr().out
    bound(shop, "--selection-rate", "0.6,0.7")
    narrow = capsys.readouterr().out

    def width(text: str) -> float:
        cells = [line.split() for line in text.splitlines()[1:7]]
        return sum(float(cell[3]) - float(cell[2]) for cell in cells)

    assert width(narrow) < 0.9 * width(wide)

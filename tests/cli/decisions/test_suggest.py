import json
from pathlib import Path

import pytest

from boundit.cli.main import main
from tests.decisions.suggest.problems import SMALL


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["suggest", *arguments])
    assert isinstance(left.value.code, int)
    shown = capsys.readouterr()
    return left.value.code, shown.out, shown.err


@pytest.fixture
def log(tmp_path: Path) -> str:
    table = SMALL.log(2_000, seed=1).count(["X", "Z", "Y"])
    lines = [
        ",".join(map(str, (*codes, int(n))))
        for codes, n in zip(table.codes.tolist(), table.n, strict=True)
    ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["X,Z,Y,n", *lines]))
    return str(path)


def test_what_would_narrow_it_is_ranked(capsys: pytest.CaptureFixture[str], log: str) -> None:
    code, out, err = answer(
        capsys, str(SMALL.graph), "Y | do(X)", log, "--weight", "n", "--worlds", "1"
    )

    assert (code, err) == (0, "")
    assert out.startswith("The bounds are ")
    assert "a table of Z of everyone" in out
    assert "the effect is then recoverable: Σ_{Z}" in out


def test_json_has_the_record_and_plug_in_ends_no_confidence(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    flags = (
        "--weight",
        "n",
        "--worlds",
        "1",
        "--confidence",
        "none",
        "--json",
        "--trial",
        "100000",
    )
    _, out, _ = answer(capsys, str(SMALL.graph), "Y | do(X)", log, *flags)
    record = json.loads(out)

    assert record["confidence"] is None
    assert record["summary"].startswith("The bounds are ")
    assert record["width"] == pytest.approx(record["endless"])
    assert any("100,000 rounds" in each["what"] for each in record["suggestions"])


def test_a_page_has_the_sentences_of_the_record(
    capsys: pytest.CaptureFixture[str], log: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    flags = ("--weight", "n", "--worlds", "1", "--json", "--report", str(page))
    _, out, err = answer(capsys, str(SMALL.graph), "Y | do(X)", log, *flags)
    first, *_ = json.loads(out)["summary"].split(" (")

    assert f'<p class="lead">{first}' in page.read_text(encoding="utf-8")
    assert err == f"wrote {page}\n"

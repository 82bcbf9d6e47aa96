import json
from functools import partial

import pytest

from boundit.cli.main import main
from boundit_research.audits import sharpness, soundness
from boundit_research.audits.soundness import AuditReport, Miss
from boundit_research.commands.audit import SUBJECTS
from tests.cli.interrupted import interrupted


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["audit", *arguments])
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, said.err


@pytest.mark.parametrize("subject", SUBJECTS)
def test_an_audit_without_a_miss_exits_0_as_text_and_as_json(
    subject: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = sharpness.SUITE[:1]
    short = partial(sharpness.measure_sharpness, suite=few)
    monkeypatch.setattr(sharpness, "SUITE", few)
    monkeypatch.setattr(sharpness, "measure_sharpness", short)
    asked = ["--of", subject, "--models", "1", "--seed", "1"]
    if subject == "large":
        asked += ["--nodes", "10", "--rows", "500"]
    code, out, err = answer(capsys, *asked)

    assert (code, err) == (0, "")
    assert out.startswith("1 random ")
    record = json.loads(answer(capsys, *asked, "--json")[1])
    assert (record["models"], record["seed"]) == (1, 1)


def test_a_miss_exits_1_and_is_shown_and_stays_one_when_interrupted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = AuditReport(0, 1)
    report.tallies["sound"].misses = 1
    report.misses.append(
        Miss(0, "X -> Y", "P(Y | do(X))", "X=0: 0.5 outside [0, 0.4]", "sound")
    )
    monkeypatch.setattr(soundness, "audit_bounds", lambda *_, **__: report)
    code, out, _ = answer(capsys, "--models", "1")

    assert code == 1
    assert out.splitlines()[-1].endswith("P(Y | do(X)) on X -> Y; X=0: 0.5 outside [0, 0.4]")
    assert answer(capsys, "--models", "9")[::2] == (1, "interrupted after 1 of 9 models\n")


def test_an_interrupted_audit_keeps_what_is_done_and_exits_130() -> None:
    code, out, err = interrupted("audit", "--of", "formulas", "--models", "100000", "--json")

    assert code == 130
    assert " of 100,000 questions" in err
    assert 0 < json.loads(out)["models"] < 100_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--models", "0"), "0 is not in the range"),
        (("--of", "large", "--nodes", "40-10"), "'40-10' is not a range from 5 on"),
        (("--of", "large", "--nodes", "few"), "'few' is not a range"),
        (("--rows", "10"), "--rows goes with --of large alone"),
        (("--of", "formulas", "--nodes", "10-40"), "--nodes goes with --of large alone"),
    ],
)
def test_nonsense_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = answer(capsys, *arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err

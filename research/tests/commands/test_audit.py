import json
from functools import partial

import pytest

from boundit.cli.main import main
from boundit_research.audits import coverage as coverage_room
from boundit_research.audits import large_worlds as large_room
from boundit_research.audits import sharpness as sharpness_room
from boundit_research.audits import soundness as room
from boundit_research.audits.coverage import Coverage, CoverageMiss, CoverageReport
from boundit_research.audits.large_worlds import LargeMiss, LargeReport
from boundit_research.audits.soundness import AuditReport, Miss
from boundit_research.commands import audit as door
from tests.cli.interrupted import interrupted


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["audit", *arguments])
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, said.err


def test_an_audit_without_a_miss_exits_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, "--models", "5")

    assert (code, err) == (0, "")
    assert out.startswith("5 random models, seed 0, exact laws\n")
    assert [line.split()[0] for line in out.splitlines()[1:-1]] == [
        "profile",
        "sound",
        "sound,",
        "paper",
    ]


def test_an_audit_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(answer(capsys, "--models", "3", "--seed", "7", "--json")[1])

    assert (record["models"], record["seed"]) == (3, 7)
    assert record["profiles"]["sound"]["missed_intervals"] == 0


def test_an_audit_with_a_miss_exits_1_and_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = AuditReport(0, 1)
    report.tallies["sound"].missed_rows = 1
    report.misses.append(Miss("X -> Y", "P(Y | do(X))", "X=0: 0.5 outside [0, 0.4]", "sound"))
    monkeypatch.setattr(room, "audit_bounds", lambda *_, **__: report)
    code, out, _ = answer(capsys, "--models", "1")

    assert code == 1
    assert out.splitlines()[-1] == ("missed: P(Y | do(X)) on X -> Y; X=0: 0.5 outside [0, 0.4]")
    assert door.audit.name == "audit"


def test_sharpness_names_every_graph_and_how_it_was_searched(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bow = sharpness_room.SUITE[:1]
    whole = sharpness_room.measure_sharpness
    monkeypatch.setattr(sharpness_room, "SUITE", bow)
    monkeypatch.setattr(sharpness_room, "measure_sharpness", partial(whole, suite=bow))
    code, out, err = answer(capsys, "--of", "sharpness", "--models", "1")

    assert (code, err) == (0, "")
    assert out.startswith("1 random models of each graph, seed 0, exact laws; 8 climbs an end")
    assert out.splitlines()[2].split()[:4] == ["bow", "nothing", "4", "4"]
    record = json.loads(answer(capsys, "--of", "sharpness", "--models", "1", "--json")[1])
    assert [row["case"] for row in record["rows"]] == ["bow"]


def test_plans_say_how_many_there_are_and_what_was_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = answer(capsys, "--of", "plans", "--models", "30", "--seed", "1")
    assert (code, err) == (0, "")
    assert "30 random models, seed 1" in out
    assert "0 misses" in out
    record = json.loads(
        answer(capsys, "--of", "plans", "--models", "3", "--seed", "1", "--json")[1]
    )
    assert (record["models"], record["misses"]) == (3, [])
    assert record["share_planned"] == record["plans"] / 3


def test_limits_say_how_many_intervals_rest_on_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = answer(capsys, "--of", "limits", "--models", "6", "--seed", "3")
    record = json.loads(
        answer(capsys, "--of", "limits", "--models", "6", "--seed", "3", "--json")[1]
    )

    assert code == 0
    assert f"{record['rows']} intervals of {record['used']} models rest on a limit" in out
    assert "0 misses on exact laws" in out


def test_openness_says_what_no_method_can_narrow(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, "--of", "openness", "--models", "6", "--seed", "4")

    assert (code, err) == (0, "")
    assert "are shown open: models with the same log have effects next to 0" in out
    record = json.loads(
        answer(capsys, "--of", "openness", "--models", "2", "--seed", "4", "--json")[1]
    )
    assert record["wrong"] == record["missed"] == 0


def test_coverage_has_a_line_for_every_kind_and_method(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = answer(capsys, "--of", "coverage", "--models", "4")

    assert (code, err) == (0, "")
    assert out.startswith("4 random problems with a log each, seed 0, confidence 0.95\n")
    assert [line.split()[:3] for line in out.splitlines() if line.startswith("all ")] == [
        ["all", "exact", "4"],
        ["all", "approximate", "4"],
    ]
    report = CoverageReport(0, 0.95, 4)
    report.counts["all", "exact"] = Coverage("all", "exact", 0.95, 4, 1, 0, 2.0, 1.0)
    report.misses.append(CoverageMiss(2, "exact", "X -> Y", "P(Y | do(X))", 90, "X=0: no"))
    monkeypatch.setattr(coverage_room, "measure_coverage", lambda *_, **__: report)
    code, out, _ = answer(capsys, "--of", "coverage", "--models", "4")
    assert code == 1
    assert "too few" in out
    assert out.splitlines()[-1] == (
        "missed: problem 2, exact, 90 rows, P(Y | do(X)) on X -> Y; X=0: no"
    )
    record = json.loads(answer(capsys, "--of", "coverage", "--models", "4", "--json")[1])
    assert (record["problems"], record["counts"][0]["held_set"]) == (4, 0)


@pytest.mark.parametrize("arguments", [("--models", "0"), ("--seed", "-1"), ("--models", "x")])
def test_nonsense_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, out, err = answer(capsys, *arguments)

    assert (code, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("subject", "what"),
    [("bounds", "models"), ("formulas", "questions"), ("coverage", "problems")],
)
def test_an_interrupted_audit_keeps_what_is_done_and_exits_130(subject: str, what: str) -> None:
    code, out, err = interrupted("audit", "--of", subject, "--models", "100000", "--json")

    assert code == 130
    assert f" of 100,000 {what}" in err
    assert 0 < json.loads(out)[what] < 100_000


def test_a_miss_stays_a_miss_when_the_audit_is_interrupted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = AuditReport(0, 3)
    report.tallies["sound"].missed_rows = 1
    monkeypatch.setattr(room, "audit_bounds", lambda *_, **__: report)
    code, _, err = answer(capsys, "--models", "9")

    assert (code, err) == (1, "interrupted after 3 of 9 models\n")


def test_large_worlds_are_audited_by_both_logs(capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--of", "large", "--models", "2", "--nodes", "10", "--rows", "1000")
    code, out, err = answer(capsys, *few)

    assert (code, err) == (0, "")
    assert out.startswith("2 random worlds of 10 to 10 variables, seed 0, 1,000 rows; 0 with")
    assert [line[:33].split() for line in out.splitlines()[2:5]] == [
        ["drawn,", "95%", "2", "0"],
        ["drawn,", "99.9999%", "2", "0"],
        ["exact", "2", "0"],
    ]
    record = json.loads(answer(capsys, *few, "--json")[1])
    assert (record["worlds"], record["misses"]) == (2, [])
    assert [tally["missed_rows"] for tally in record["tallies"].values()] == [0, 0, 0]


def test_a_miss_in_a_large_world_exits_1_and_says_which(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = LargeReport(3, (10, 40), 1000, worlds=5)
    report.tallies["exact"].missed_rows = 1
    report.misses.append(LargeMiss(4, "exact", "12 nodes", "P(Y | do(X))", "0.5 outside"))
    monkeypatch.setattr(large_room, "audit_large_worlds", lambda *_, **__: report)
    code, out, _ = answer(capsys, "--of", "large", "--models", "5")

    assert code == 1
    assert out.splitlines()[-1] == (
        "missed: world 4, exact, 12 nodes: P(Y | do(X)); 0.5 outside"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--of", "large", "--nodes", "40-10"), "'40-10' is no range from 5 on; write 10-40"),
        (("--of", "large", "--nodes", "few"), "'few' is no range"),
        (("--of", "large", "--nodes", "4"), "'4' is no range"),
        (("--rows", "10"), "--rows goes with --of large alone"),
        (("--of", "formulas", "--nodes", "10-40"), "--nodes goes with --of large alone"),
    ],
)
def test_what_large_worlds_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = answer(capsys, *arguments)

    assert (code, out) == (2, "")
    assert said in err


def test_bounds_under_edges_that_were_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = answer(capsys, "--of", "stress", "--models", "3", "--seed", "1")
    record = json.loads(answer(capsys, "--of", "stress", "--models", "3", "--json")[1])

    assert code == 0
    assert out.startswith(
        "3 random models, seed 1, exact laws, each with an edge that the graph"
    )
    assert ", 0 misses" in out
    assert record["misses"] == []

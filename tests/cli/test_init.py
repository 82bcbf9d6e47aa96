import json
import re
import shlex
from collections import Counter
from csv import DictReader
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import boundit as bd
from boundit.bounds.paper import condition_only
from boundit.cli.init import COMMANDS, make_example
from boundit.cli.main import main
from boundit.simulation.pharmacy import (
    AGES,
    ANSWERED,
    ANSWERS_MORE,
    CHOSEN,
    FAMILY,
    IF_ANSWERED,
    IF_FAMILY,
    IF_SERIOUS,
    ILLNESSES,
    KEPT,
    OLDER,
    PATIENTS,
    QUERY,
    REFILLS,
    REMINDERS,
    SERIOUS,
)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, said.err


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_policy_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """As its lines stand there, from the file that the last command writes."""
    (block,) = re.findall(r"```python\n(.*?)```", make_example()["README.md"], re.DOTALL)
    answer(capsys, "init", ".")
    answer(capsys, *COMMANDS[-1])

    found: dict[str, object] = {}
    exec(block, found)
    assert "12,593 logged rows pooled" in str(found["policy"])


def world() -> bd.Environment:
    """The model of the story, as the library writes models."""
    model = bd.SCM.of(
        {
            "Age": ([], OLDER),
            "Illness": (["Age"], [SERIOUS[age] for age in AGES]),
            "Family": ([], FAMILY),
            "Reminder": (["Illness"], [CHOSEN[illness] for illness in ILLNESSES]),
            "Answered": (
                ["Age", "Reminder", "Family"],
                lambda a, r, f: ANSWERED[AGES[a]][r] + ANSWERS_MORE * f,
            ),
            "Refill": (
                ["Illness", "Answered", "Family"],
                lambda i, a, f: REFILLS + IF_ANSWERED * a + IF_FAMILY * f + IF_SERIOUS * i,
            ),
            "Kept": (["Illness"], [KEPT[illness] for illness in ILLNESSES]),
        },
        hidden="Family",
        selection="Kept",
    )
    return bd.Environment(model, bd.parse_query(QUERY))


def test_every_printed_command_works_as_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = answer(capsys, "init", "my shop")
    *_, go, graph, check, recover, bound, explain, save = map(shlex.split, out.splitlines())

    assert (code, err) == (0, "")
    assert go == ["cd", "my shop"]
    monkeypatch.chdir(go[1])
    assert answer(capsys, *graph[1:])[0] == 0
    assert answer(capsys, *check[1:])[0] == 0
    assert answer(capsys, *recover[1:])[0] == 1
    assert "increase" in answer(capsys, *bound[1:])[1]
    assert answer(capsys, *explain[1:])[1].count(" lies in [") == 6
    assert answer(capsys, *save[1:])[0] == 0
    assert len(bd.BoundTable.load("bounds.json").bounds) == 6


def test_the_readme_has_the_same_commands() -> None:
    shown = re.findall(r"^\$ boundit (.*)$", make_example()["README.md"], flags=re.MULTILINE)

    assert [tuple(shlex.split(line)) for line in shown] == list(COMMANDS)


def test_the_graph_is_that_of_the_model() -> None:
    assert bd.parse_graph(make_example()["graph.txt"]) == world().graph


def test_the_log_is_drawn_from_the_model_that_is_stated() -> None:
    law = world().model.log()
    orders = {"Age": AGES, "Illness": ILLNESSES, "Reminder": REMINDERS}
    counted = Counter(
        tuple(
            orders[axis].index(row[axis]) if axis in orders else int(row[axis])
            for axis in law.axes
        )
        for row in DictReader(StringIO(make_example()["log.csv"]))
    )
    rows = counted.total()
    places = list(np.ndindex(law.values.shape))

    assert rows / PATIENTS == pytest.approx(world().model.selection_rate(), abs=0.01)
    expected = [rows * float(law.values[at]) for at in places]
    assert chisquare([counted[at] for at in places], expected).pvalue > 0.01


def test_the_readme_tells_the_truth_of_the_model() -> None:
    """And what it says of averages: for the younger they prefer the wrong reminder."""
    rows = re.compile(r"^\| (younger|older) \|(.*)\|$", re.MULTILINE)
    for age, cells in rows.findall(make_example()["README.md"]):
        means = [world().mean(arm, AGES.index(age)) for arm in range(len(REMINDERS))]
        assert [float(cell) for cell in cells.split("|")] == pytest.approx(means)

    naive = condition_only(world().graph, QUERY, world().exact_log())
    _, text, call = range(3)
    assert naive[text, 0].lower > naive[call, 0].upper
    assert world().mean(text, 0) < world().mean(call, 0)


def test_the_bounds_of_the_example_hold(here: Path) -> None:
    (here / "log.csv").write_text(make_example()["log.csv"])
    bounds = bd.derive_bounds(world().graph, QUERY, "log.csv")

    for (reminder,), (age,) in bounds.bounds:
        truth = world().mean(REMINDERS.index(str(reminder)), AGES.index(str(age)))
        assert truth in bounds[reminder, age]
    assert bounds["letter", "younger"].upper < bounds["call", "younger"].lower


def test_nothing_is_overwritten_without_force(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "log.csv").write_text("years of work")
    code, out, err = answer(capsys, "init", "mine")

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "log.csv is there already" in err
    assert [path.name for path in (here / "mine").iterdir()] == ["log.csv"]
    assert (here / "mine" / "log.csv").read_text() == "years of work"

    assert answer(capsys, "init", "mine", "--force")[0] == 0
    assert sorted(path.name for path in (here / "mine").iterdir()) == sorted(make_example())
    assert (here / "mine" / "log.csv").read_text() == make_example()["log.csv"]


def test_other_files_are_left_alone(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "notes.txt").write_text("mine")
    assert answer(capsys, "init", ".")[0] == 0

    assert (here / "notes.txt").read_text() == "mine"
    assert (here / "graph.txt").exists()


def test_a_failure_leaves_no_half_written_file(
    capsys: pytest.CaptureFixture[str], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Path.write_text

    def full(path: Path, text: str, **options: str) -> int:
        if path.name == "log.csv":
            whole(path, text[:99], **options)
            raise OSError(28, "No space left on device")
        return whole(path, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    code, _, err = answer(capsys, "init", "new")

    assert (code, err) == (2, "error: cannot write to new: No space left on device\n")
    assert list((here / "new").iterdir()) == []


def test_a_file_in_the_way_is_one_line(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "taken").write_text("")
    code, _, err = answer(capsys, "init", "taken")

    assert (code, err.count("\n")) == (2, 1)
    assert "taken" in err


def test_json_says_what_was_written(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    record = json.loads(answer(capsys, "init", "--json")[1])

    assert record["directory"] == "boundit-example"
    assert all((here / record["directory"] / name).is_file() for name in record["files"])
    assert record["commands"][3][:2] == ["boundit", "effect"]

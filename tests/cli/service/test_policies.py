"""``boundit policies`` writes to the store itself, and says what it did."""

import json
from pathlib import Path

import pytest

from boundit.service.store.sqlite import SqliteStore
from tests.cli.answer import answer
from tests.service.kit import decide, make_config, make_table, reward, run_engine


@pytest.fixture
def bounds(tmp_path: Path) -> str:
    make_table().save(tmp_path / "bounds.json")
    return str(tmp_path / "bounds.json")


def test_an_option_that_the_policy_has_not_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, bounds: str
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    asked = ("--bounds", bounds, "--kind", "UCB", "--set", 'options={"alpha": 0.5}')
    code, _, err = answer(capsys, "policies", "create", "ads", *where, *asked)

    assert code == 2
    assert "alpha" in err
    assert "No policy yet" in answer(capsys, "policies", "show", *where)[1]


def test_what_was_created_is_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, bounds: str
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    window = ("--window", "1d", "--default-reward", "0", "--set", "explore=0.1")
    kept = ("--set", "retention=36h")
    code, out, _ = answer(
        capsys,
        "policies",
        "create",
        "ads",
        *where,
        "--bounds",
        bounds,
        "--kind",
        "UCB",
        *window,
        *kept,
    )
    shown = json.loads(answer(capsys, "policies", "show", "ads", "--json", *where)[1])
    fresh = answer(capsys, "policies", "refresh", "ads", bounds, *where)
    listed = json.loads(answer(capsys, "policies", "show", "--json", *where)[1])

    assert code == 0
    assert "after 1d; without a reward it counts as 0" in out
    assert (shown["window"], shown["explore"]) == (86_400.0, 0.1)
    assert shown["retention"] == 1.5
    assert "bounds   version 1, in force" in out
    assert "kept     1.5 days" in out
    assert fresh[1] == "bounds version 2 from position 2 on\n"
    assert [one["bounds_version"] for one in listed] == [2]


def test_arms_may_stand_for_bounds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    where = ("--store", str(tmp_path / "shop"))
    code, out, err = answer(
        capsys, "policies", "create", "p", *where, "--kind", "UCB", "--set", "arms=1,B",
        "--set", "context=Age", "--set", "reward_range=[0, 5]",
    )  # fmt: skip

    assert code == 0
    assert "1, B" in out
    assert "bounds   none" in out
    assert "note: rewards are learned immediately" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("policies", "show"), "Missing option '--store'"),
        (("policies", "show", "--store", "mysql://x"), "postgresql://user@host/name"),
        (("policies", "create", "a b", "--store", "d", "--set", "arms=A"), "name"),
        (("policies", "create", "a", "--store", "d", "--set", "x"), "FIELD=VALUE"),
        (("policies", "create", "a", "--store", "d", "--window", "soon"), "30m, 12h or 7d"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = answer(capsys, *arguments)

    assert code == 2
    assert said in err
    assert err.count("\n") == 1


def test_a_file_that_is_no_json_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "bounds.json"
    path.write_text("{")
    code, _, err = answer(
        capsys, "policies", "create", "a", "--store", str(tmp_path / "d"), "--bounds", str(path)
    )

    assert code == 2
    assert "it is not JSON" in err


def test_what_is_old_is_erased(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, bounds: str
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    answer(capsys, "policies", "create", "ads", *where, "--bounds", bounds, "--kind", "UCB")
    code, out, _ = answer(capsys, "policies", "prune", "ads", *where, "--before", "2001-01-01")

    assert (code, out) == (0, "decisions erased: 0, events: 0\n")


def test_an_export_is_bounded_as_what_a_policy_wrote(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with run_engine(SqliteStore(tmp_path / "shop"), make_config(kind="UCB")) as engine:
        for i in range(50):
            decide(engine, str(i), i % 3)
            reward(engine, str(i), i % 2)
    where, out = ("--store", str(tmp_path / "shop")), tmp_path / "log.csv"
    code, _, said = answer(capsys, "policies", "export", "ads", *where, "--out", str(out))
    graph = "Age -> Ad -> Click <- Age"
    bound = answer(capsys, "bound", graph, "Click | do(Ad), Age", str(out))

    assert (code, said) == (0, f"wrote {out}\n")
    assert len(out.read_text().splitlines()) == 51
    assert bound[0] == 0
    assert "however a policy that learned" in bound[2]


def test_an_export_that_fails_leaves_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    out = tmp_path / "log.csv"
    SqliteStore(tmp_path / "shop").close()
    code, _, said = answer(capsys, "policies", "export", "nobody", *where, "--out", str(out))
    text = answer(capsys, "policies", "export", "ads", *where, "--out", "log.txt")

    assert code == 2
    assert "No policy is named 'nobody'" in said
    assert not out.exists()
    assert ".csv or .jsonl" in text[2]


def test_a_linear_policy_says_which_context_it_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--store", str(tmp_path / "shop"), "--set", "arms=A,B")
    code, _, err = answer(capsys, "policies", "create", "p", *where, "--kind", "LinUCB")
    none = answer(
        capsys, "policies", "create", "p", *where, "--kind", "LinUCB", "--set", "context=[]"
    )

    assert code == 2
    assert "write its names in context" in err
    assert none[0] == 0


def test_a_policy_is_changed_a_decision_erased_and_all_deleted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--store", str(tmp_path))
    with run_engine(SqliteStore(tmp_path), make_config(kind="UCB", window=60.0)) as engine:
        decide(engine, "a")
    changed = answer(
        capsys,
        "policies",
        "update",
        "ads",
        *where,
        "--set",
        "window=2h",
        "--set",
        "monitor=null",
    )
    shown = json.loads(answer(capsys, "policies", "show", "ads", "--json", *where)[1])
    unknown = answer(capsys, "policies", "update", "ads", *where, "--set", "windw=2h")
    erased = answer(capsys, "policies", "prune", "ads", *where, "--id", "a")
    neither = answer(capsys, "policies", "prune", "ads", *where)
    deleted = answer(capsys, "policies", "delete", "ads", *where)

    assert "after 2h" in changed[1]
    assert (shown["window"], shown["monitor"]) == (7200.0, None)
    assert "Did you mean 'window'?" in unknown[2]
    assert erased[:2] == (0, "decisions erased: 1, events: 1\n")
    assert (neither[0], deleted[1]) == (2, "deleted ads\n")
    assert "No policy yet" in answer(capsys, "policies", "show", *where)[1]

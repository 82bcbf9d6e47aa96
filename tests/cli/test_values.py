import json
from pathlib import Path

import click
import pytest

from boundit.bandit.errors import DamagedState
from boundit.cli.values import read_policy, read_shares
from boundit.core.errors import UnreadableFile
from boundit.decisions.policies import LOGGED, Measured
from boundit.results.bound_table import BoundTable

TABLE = BoundTable.from_rows(
    [
        {"X": x, "Z": z, "C": c, "lower": 0, "upper": 1}
        for x in ("a", "b")
        for z in (True, False)
        for c in ("new", "old")
    ],
    outcome="Y",
    treatments=["X", "Z"],
    context=["C"],
    outcome_range=(0, 1),
)


def write(path: Path, found: object) -> str:
    path.write_text(found if isinstance(found, str) else json.dumps(found))
    return str(path)


def test_arms_are_levels_with_commas_and_keep_their_types() -> None:
    assert read_policy("a,true", TABLE) == ("a", True)
    assert read_policy("Z=False, X=b", TABLE) == ("b", False)
    assert read_policy("log", TABLE) is LOGGED
    assert read_policy("choice", TABLE) == TABLE.choose()


def test_a_measured_value_has_its_error_and_the_confidence_of_that() -> None:
    assert read_policy("0.33+-0.02", TABLE) == Measured(0.31, 0.33 + 0.02)
    assert read_policy("0.33 +- 0.02 @ 0.99", TABLE) == Measured(
        0.31, 0.33 + 0.02, confidence=0.99
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [("a", "a value for each of X, Z"), ("a,9", "Z has no value '9'"), ("1+-x", "0.33")],
)
def test_what_is_no_arm_is_refused(text: str, said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        read_policy(text, TABLE)


def test_files_have_rows_or_contexts_with_their_arms(tmp_path: Path) -> None:
    rows = "C,X,Z,probability\nnew,a,true,0.5\nnew,b,true,0.5\nold,a,false,1\n"
    found = {
        ("new",): {("a", True): 0.5, ("b", True): 0.5},
        ("old",): {("a", False): 1.0},
    }
    assert read_policy(write(tmp_path / "p.csv", rows), TABLE) == found
    listed = [{"C": "new", "X": "a", "Z": True}, {"C": "old", "X": "b", "Z": False}]
    assert read_policy(write(tmp_path / "l.json", listed), TABLE) == {
        ("new",): {("a", True): 1.0},
        ("old",): {("b", False): 1.0},
    }
    named = {"new": ["a", True], "old": {"a,true": 0.5, "b,false": 0.5}}
    assert read_policy(write(tmp_path / "n.json", named), TABLE) == {
        ("new",): ("a", True),
        ("old",): {("a", True): 0.5, ("b", False): 0.5},
    }


def test_shares_are_rows_or_an_object(tmp_path: Path) -> None:
    shares = {("new",): 0.25, ("old",): 0.75}
    rows = "C,share\nnew,0.25\nold,0.75\n"
    assert read_shares(write(tmp_path / "s.csv", rows), TABLE) == shares
    named = {"new": 0.25, "old": 0.75}
    assert read_shares(write(tmp_path / "s.json", named), TABLE) == shares
    assert read_shares("any", TABLE) == "any"
    assert read_shares("new=0.25, old=0.75", TABLE) == shares
    with pytest.raises(click.UsageError, match=r"none\.csv is not a file"):
        read_shares("none.csv", TABLE)
    for text, said in (("D,share\n1,1\n", "a row without 'C'"), ("C,share\nnew,x\n", "'x' wh")):
        with pytest.raises(click.UsageError, match=said):
            read_shares(write(tmp_path / "s.csv", text), TABLE)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("p.csv", "C,X\nnew,a\n", "without 'Z'"),
        ("p.csv", "C,X,Z,probability\nnew,a,true,half\n", "where a number is needed"),
        ("p.csv", "C,X,Z\nnew,q,true\n", "X has no value 'q'"),
        ("p.json", 3, "has no policy"),
        (
            "p.json",
            {"format": "boundit policy", "policy": "Model"},
            "no policy is called 'Model'",
        ),
    ],
)
def test_files_that_hold_no_policy_are_refused(
    tmp_path: Path, name: str, content: object, said: str
) -> None:
    with pytest.raises((click.UsageError, DamagedState), match=said):
        read_policy(write(tmp_path / name, content), TABLE)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        read_policy(write(tmp_path / "p.json", "{"), TABLE)

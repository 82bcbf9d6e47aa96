"""``boundit policies show --verify`` proves states, and says where they differ."""

import json
import sqlite3
from pathlib import Path

import pytest

from boundit.service.store.sqlite import SqliteStore
from tests.cli.answer import answer
from tests.service.kit import decide, make_config, reward, run_engine

VERIFY = ("policies", "show", "--verify", "state")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    with run_engine(SqliteStore(tmp_path), make_config(kind="UCB")) as engine:
        for i in range(30):
            decide(engine, f"v{i}", age=i % 3)
            reward(engine, f"v{i}", float(i % 2))
    return tmp_path


def test_equal_states_are_proved(capsys: pytest.CaptureFixture[str], shop: Path) -> None:
    code, out, _ = answer(
        capsys, "policies", "show", "--store", str(shop), "--verify", "decisions"
    )
    record = json.loads(
        answer(
            capsys,
            "policies",
            "show",
            "ads",
            "--store",
            str(shop),
            "--verify",
            "state",
            "--json",
        )[1]
    )

    assert code == 0
    assert "policy ads: 30 closed decisions replayed" in out
    assert out.endswith("1 policy verified\nnothing differs\n")
    assert record["differences"] == []


def test_a_state_that_was_changed_is_told(
    capsys: pytest.CaptureFixture[str], shop: Path
) -> None:
    with sqlite3.connect(shop / "boundit.sqlite") as connection:
        changed = connection.execute(
            "UPDATE events SET body = replace(body, '\"reward\":1.0', '\"reward\":0.0') "
            "WHERE kind = 'closed'"
        ).rowcount
    code, out, _ = answer(capsys, "policies", "show", "--verify", "state", "--store", str(shop))

    assert changed > 0
    assert code == 1, out
    assert out.endswith("1 policy verified\nDIFFERS: ads\n")


def test_a_policy_that_is_not_there_is_refused(
    capsys: pytest.CaptureFixture[str], shop: Path
) -> None:
    assert (
        answer(capsys, "policies", "show", "none", "--verify", "state", "--store", str(shop))[0]
        == 2
    )


def test_a_store_without_a_policy_proves_nothing_and_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    SqliteStore(tmp_path).close()

    assert answer(capsys, *VERIFY, "--store", str(tmp_path))[:2] == (
        0,
        "No policy, so nothing was verified\n",
    )
    assert answer(capsys, *VERIFY, "--store", str(tmp_path), "--json")[1] == "[]\n"


def test_several_policies_are_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    configs = (make_config("ads", kind="UCB"), make_config("more", kind="UCB"))
    with run_engine(SqliteStore(tmp_path), *configs):
        pass

    assert "2 policies verified" in answer(capsys, *VERIFY, "--store", str(tmp_path))[1]

"""``boundit keys``: made once, listed without secrets, revoked for good."""

import json
from pathlib import Path

import pytest

from boundit.service.store.sqlite import SqliteStore
from tests.cli.answer import answer


def test_a_key_is_made_listed_and_revoked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    SqliteStore(tmp_path / "shop").close()
    empty = answer(capsys, "keys", "list", *where)
    code, secret, note = answer(
        capsys, "keys", "add", "shop", "--role", "decide", "--role", "reward", *where
    )
    listed = json.loads(answer(capsys, "keys", "list", "--json", *where)[1])
    gone = answer(capsys, "keys", "revoke", listed[0]["id"], *where)
    shown = answer(capsys, "keys", "list", *where)

    assert "No key yet" in empty[1]
    assert (code, secret[:3]) == (0, "bk_")
    assert "write it down now" in note
    assert listed[0]["roles"] == ["decide", "reward"]
    assert secret.strip() not in shown[1]
    assert "revoked the key" in gone[1]
    assert ", revoked 2" in shown[1]


def test_json_has_the_secret_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    where = ("--store", str(tmp_path / "shop"))
    made = json.loads(
        answer(capsys, "keys", "add", "a", "--role", "admin", "--json", *where)[1]
    )

    assert made["secret"].startswith("bk_")
    assert "secret" not in answer(capsys, "keys", "list", "--json", *where)[1]


def test_what_makes_no_sense_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--store", str(tmp_path / "shop"))
    SqliteStore(tmp_path / "shop").close()
    revoked = answer(capsys, "keys", "revoke", "nobody", *where)

    assert answer(capsys, "keys", "add", "a", *where)[0] == 2
    assert revoked[0] == 2
    assert "nobody" in revoked[2]

"""The types that the page's modules state are true, by TypeScript's checker."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from boundit.studio.bundle import PAGE
from tests.missing import leave_out

CHECKER = "typescript@5.9.3"
OPTIONS = (
    "--noEmit --allowJs --checkJs --strict --noUnusedLocals --noUnusedParameters "
    "--target es2022 --module esnext --moduleResolution bundler --resolveJsonModule "
    "--lib es2022,dom,dom.iterable"
)


@pytest.fixture(scope="module")
def checker() -> Path:
    """The checker from npm, kept outside of the repository for the next run."""
    npm = shutil.which("npm")
    if npm is None:
        leave_out(
            "no npm on this machine to get TypeScript's checker with; .ci/run installs it"
        )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = cache / "boundit-tests" / CHECKER
    found = place / "node_modules" / ".bin" / "tsc"
    if not found.exists():
        place.mkdir(parents=True, exist_ok=True)
        quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error")
        command = [npm, "install", "--prefix", str(place), *quiet, CHECKER]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            leave_out(f"npm cannot get {CHECKER} here: {ran.stderr[-300:]}")
    return found


def check_types(checker: Path, *files: Path) -> str:
    command = [str(checker), *OPTIONS.split(), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.mark.full
def test_types_of_all_modules_are_true(checker: Path) -> None:
    assert check_types(checker, *sorted(PAGE.glob("*.js"))) == ""


def test_a_wrong_type_is_found(checker: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.js"
    wrong.write_text("/** @type {number} */\nexport const wrong = 'text';\n")

    assert "not assignable to type 'number'" in check_types(checker, wrong)


def test_no_part_waits_by_itself() -> None:
    """What a part takes after waiting goes through ``Latest``, which asks if it is wanted.

    Words with the server, the start of the page, its draft and what ``Latest`` is given to do
    may wait.
    """
    waits = {path.name for path in PAGE.glob("*.js") if "await " in path.read_text("utf-8")}
    talk = {"latest.js", "link.js", "placing.js", "transport.js"}

    assert waits - talk == {"data.js", "main.js", "project.js", "take.js", "text.js"}


def test_every_word_of_the_table_is_used_and_there() -> None:
    """Words of the page stand in one table."""
    table = json.loads((PAGE / "words.json").read_text("utf-8"))
    said = "".join(path.read_text("utf-8") for path in PAGE.glob("*.js"))
    named = re.findall(r"\bt\(\"([\w.]+)\"", said)
    index = (PAGE / "index.html").read_text("utf-8")

    assert {*named, *re.findall(r"\{\{([\w.]+)\}\}", index)} == set(table)


def test_no_style_or_script_stands_within_the_page() -> None:
    """The content policy would refuse them in silence."""
    index = (PAGE / "index.html").read_text(encoding="utf-8")

    assert "style=" not in index
    assert "<style" not in index
    assert "<script>" not in index
    assert "http://" not in index
    assert "https://" not in index

"""``python -m tools.results``: run audits and benchmarks, and keep what they print.

Each leaves ``docs/results/NAME.txt``: the command, the commit, a sum of the code that it runs,
how it ended, and its output. ``docs/results/index.md`` lists them. What was kept of the present
code is not run again, whatever else changed since, so that a call that was interrupted goes on
and a release runs only what it must; names choose some, ``--list`` tells what there is and what
is to be run. All together take many hours. Audits may run side by side (``--jobs``), benchmarks
run alone.
"""

import ast
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock

import click
from benchmarks.__main__ import NAMES as BENCHMARKS

from tools.house.source import ROOT

FOLDER = ROOT / "docs" / "results"
AUDITED, PARTS = 5_000, 20
"""Models of one part of the audit of bounds, and how many parts a release runs."""
_AUDITS = {
    "large": 300,
    "formulas": 10_000,
    "coverage": 1_000,
    "sharpness": 3,
    "openness": 100,
    "plans": 1_000,
    "limits": 1_000,
    "comparisons": 2_000,
    "choices": 2_000,
    "stress": 1_000,
}
"""The other audits, with how many models each has."""
_OWN = {
    "widths": "python -m benchmarks.widths --logs 1000 --inference exact --jobs 2",
    "ml": "python -m benchmarks.ml --kinds linear",
}
"""Benchmarks that are run otherwise than by their name."""
_MORE = {
    "benchmark-widths-slow": (
        "python -m benchmarks.widths --cells min-of-external --logs 20000 --inference exact "
        "--jobs 2"
    ),
    "benchmark-service-year": "python -m benchmarks service --memory",
    "benchmark-ml-boosting": (
        "python -m benchmarks.ml --kinds boosting --rows 500 2000 --logs 40"
    ),
    "crash": "make crash",
    "rivals": "boundit simulate --study rivals --report docs/results/rivals.md",
}
"""What is too slow to run with the rest, kills, and the study of rivals."""
_BOUND_ROOMS = ("terms", "graph", "estimand", "counts", "checks", "bounds", "simulation")
_AUDITED_ROOMS = (*_BOUND_ROOMS, "decisions")
_MEASURED_ROOMS = (*_AUDITED_ROOMS, "bandit", "report", "studies")
_SERVING_ROOMS = (*_MEASURED_ROOMS, "service", "cli")
"""The rooms that the audit of bounds, audits, benchmarks, and those of the service run."""
_READERS, _MODELS = "src/boundit/counts/formats", "src/boundit/bounds/models"
"""What audits never call, as their logs are drawn and not read, and what that of bounds does
not call either, as it asks for no models."""
_BOUNDING = ("benchmark-widths", "benchmark-ml")
"""Benchmarks of bounds alone, which draw their logs as audits do."""
_SERVED = ("benchmark-service", "benchmark-late_rewards", "crash")
_WRITING = Lock()  # the list of what is kept is read while it is written


@dataclass(frozen=True)
class Kept:
    """A command, and what it printed at a commit."""

    name: str
    command: str
    commit: str
    code: str
    exit_code: int
    output: str

    def write(self) -> str:
        """Write what its file holds."""
        head = [
            f"command: {self.command}",
            f"commit: {self.commit}",
            f"code: {self.code}",
            f"exit code: {self.exit_code}",
        ]
        return "\n".join([*head, "", self.output.strip(), ""])

    @classmethod
    def read(cls, path: Path) -> "Kept":
        """Read a file that ``write`` gave the text of."""
        head, _, output = path.read_text(encoding="utf-8").partition("\n\n")
        found = dict(line.split(": ", 1) for line in head.splitlines())
        return cls(
            path.stem,
            found["command"],
            found["commit"],
            found["code"],
            int(found["exit code"]),
            output,
        )


def list_commands() -> dict[str, str]:
    """List all commands by the names of their files."""
    found = {
        f"audit-bounds-{seed:02}": f"boundit audit --models {AUDITED} --seed {seed}"
        for seed in range(PARTS)
    }
    for name, models in _AUDITS.items():
        found[f"audit-{name}"] = f"boundit audit --of {name} --models {models}"
    for name in BENCHMARKS:
        found[f"benchmark-{name}"] = _OWN.get(name, f"python -m benchmarks {name}")
    return found | _MORE


def find_commit() -> str:
    """Find the present commit, with a plus where what is in the folder differs from it.

    Results that were kept just now do not count as a difference.
    """
    commit = _ask_git("rev-parse", "--short=8", "HEAD")
    changed = _ask_git("status", "--porcelain", "--", ".", ":(exclude)docs/results")
    return commit + ("+" if changed else "")


def find_code(name: str) -> str:
    """Sum up the code that a command runs, with a plus where it is not committed as it is.

    Comments and docstrings run nothing, and count for nothing.
    """
    paths, skipped = _list_code(name), list_never_called(name)
    left_out = [f":(exclude){path}" for path in skipped]
    lines = _ask_git("ls-tree", "-r", "HEAD", "--", *paths).splitlines()
    held = [line for line in lines if not any(f"\t{path}/" in line for path in skipped)]
    summed = [_sum_file(line.split()[2], line.endswith(".py")) for line in held]
    names = [line.partition("\t")[2] for line in held]
    changed = _ask_git("status", "--porcelain", "--", *paths, *left_out)
    return _hash(str([*zip(names, summed, strict=True)])) + ("+" if changed else "")


@cache
def _sum_file(blob: str, is_python: bool) -> str:  # noqa: FBT001
    """Sum up a file as Git keeps it; of Python, what is left without comments and words."""
    if not is_python:
        return blob
    tree = ast.parse(_ask_git("cat-file", "blob", blob))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [one for one in node.body if not _is_text(one)]
    return _hash(ast.unparse(tree))


def _is_text(statement: ast.stmt) -> bool:
    """Tell whether a statement is a string alone, as the docstring of a name or a module is."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def list_never_called(name: str) -> list[str]:
    """List the folders within the rooms of a command of which it calls nothing."""
    if name.startswith("audit-bounds-"):
        return [_READERS, _MODELS]
    return [_READERS] if name.startswith(("audit-", *_BOUNDING)) else []


def _list_code(name: str) -> list[str]:
    """List the folders and files that a command runs: nothing else can change what it finds."""
    files = sorted(path.name for path in (ROOT / "benchmarks").glob("*.*"))
    own = [f"benchmarks/{file}" for file in files]
    rooms: tuple[str, ...] = _MEASURED_ROOMS
    if name.startswith("audit-"):
        rooms = _BOUND_ROOMS if name.startswith("audit-bounds-") else _AUDITED_ROOMS
        own = ["src/boundit/studies/audits"]
    elif name.startswith(_SERVED):
        rooms, own = _SERVING_ROOMS, ["benchmarks", "tests/service/crash"]
    elif name.startswith(_BOUNDING):
        rooms = _BOUND_ROOMS
    return [*(f"src/boundit/{room}" for room in rooms), *own]


def _ask_git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def run_command(name: str, command: str, commit: str, code: str) -> Kept:
    """Run a command with this Python's programs, and keep what it prints."""
    words = shlex.split(command)
    program = Path(sys.executable).parent / words[0]
    ran = subprocess.run(
        [program if program.exists() else words[0], *words[1:]],
        cwd=ROOT,
        # Threads fight over small matrices and trees.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return Kept(name, command, commit, code, ran.returncode, ran.stdout)


def read_all(folder: Path) -> list[Kept]:
    """Read all that is kept, by name."""
    return [Kept.read(path) for path in sorted(folder.glob("*.txt"))]


def write_index(kept: Sequence[Kept]) -> str:
    """Write the page that lists what is kept."""
    return "\n".join([*_list_lines(kept), ""])


def _list_lines(kept: Sequence[Kept]) -> Iterator[str]:
    yield "# Results"
    yield ""
    yield "What our audits and benchmarks printed, each at the commit it names. `python -m"
    yield "tools.results` runs those again whose code has changed since. Exit code 0 of an"
    yield "audit means that nothing missed on exact laws, and on drawn logs no more than their"
    yield "confidence allows. A plus behind a commit says that other files were being changed,"
    yield "not the code that the command runs. Of benchmarks, ratios within one run are what"
    yield "counts: machines are shared. The study of rivals writes [a page](rivals.md) too."
    yield ""
    yield "| Command | Commit | Exit code | Output |"
    yield "|---|---|---|---|"
    for one in kept:
        shown = f"[{one.name}]({one.name}.txt)"
        yield f"| `{one.command}` | {one.commit} | {one.exit_code} | {shown} |"


def is_kept(name: str, command: str) -> bool:
    """Tell whether a command was run with the present code."""
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        return False
    kept = Kept.read(path)
    return kept.command == command and kept.code == find_code(name)


def keep(name: str, command: str) -> None:
    """Run a command, write what it printed, and list it."""
    click.echo(f"{name}: {command}", err=True)
    kept = run_command(name, command, find_commit(), find_code(name))
    if kept.exit_code < 0:
        raise click.ClickException(f"{name} was ended by signal {-kept.exit_code}")
    with _WRITING:
        (FOLDER / f"{name}.txt").write_text(kept.write(), encoding="utf-8")
        (FOLDER / "index.md").write_text(write_index(read_all(FOLDER)), encoding="utf-8")


@click.command(help=__doc__)
@click.argument("names", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="Only tell what there is to run.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many audits run side by side.",
)
def main(names: tuple[str, ...], only_list: bool, jobs: int) -> None:  # noqa: FBT001, click calls it
    """Run what is named, or all, unless it was run with this code."""
    commands = list_commands()
    if unknown := set(names) - set(commands):
        raise click.BadParameter(f"there is no {', '.join(sorted(unknown))}; see --list")
    if only_list:
        for name, command in commands.items():
            mark = "kept" if is_kept(name, command) else "to run"
            click.echo(f"{mark:<8}{name:<24} {command}")
        return
    FOLDER.mkdir(exist_ok=True)
    asked = [name for name in names or commands if not is_kept(name, commands[name])]
    audits = [name for name in asked if name.startswith("audit-")]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda name: keep(name, commands[name]), audits))
    for name in [name for name in asked if name not in audits]:
        keep(name, commands[name])


if __name__ == "__main__":
    main()

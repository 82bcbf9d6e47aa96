"""``python -m tools.results``: run audits and benchmarks, and keep what they print.

Each leaves ``docs/results/NAME.txt``: the command, the commit, how it ended, and its output.
``docs/results/index.md`` lists them. What was kept at the present commit is not run again, so
that a call that was interrupted goes on; names choose some, ``--list`` tells what there is.
All together take many hours: a release runs them once, on the commit that it tags.
"""

import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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
    "widths": "python -m benchmarks.widths --logs 1000 --inference exact",
    "service": "python -m benchmarks service",
}
"""Benchmarks that are run otherwise than by their name."""


@dataclass(frozen=True)
class Kept:
    """A command, and what it printed at a commit."""

    name: str
    command: str
    commit: str
    code: int
    output: str

    def write(self) -> str:
        """Write what its file holds."""
        head = [
            f"command: {self.command}",
            f"commit: {self.commit}",
            f"exit code: {self.code}",
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
    return found | {"crash": "make crash"}


def find_commit() -> str:
    """Find the present commit, with a plus where what is in the folder differs from it."""
    said = ["git", "describe", "--always", "--dirty=+", "--abbrev=8", "--exclude=*"]
    return subprocess.run(
        said, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def run_command(name: str, command: str, commit: str) -> Kept:
    """Run a command with this Python's programs, and keep what it prints."""
    words = shlex.split(command)
    program = Path(sys.executable).parent / words[0]
    ran = subprocess.run(
        [program if program.exists() else words[0], *words[1:]],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return Kept(name, command, commit, ran.returncode, ran.stdout)


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
    yield "tools.results` runs them all again. Exit code 0 means that nothing missed. Of"
    yield "benchmarks, ratios within one run are what counts: machines are shared."
    yield ""
    yield "| Command | Commit | Exit code | Output |"
    yield "|---|---|---|---|"
    for one in kept:
        shown = f"[{one.name}]({one.name}.txt)"
        yield f"| `{one.command}` | {one.commit} | {one.code} | {shown} |"


@click.command(help=__doc__)
@click.argument("names", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="Only tell what there is to run.")
def main(names: tuple[str, ...], only_list: bool) -> None:  # noqa: FBT001, click calls it
    """Run what is named, or all that is not of this commit."""
    commands = list_commands()
    if unknown := set(names) - set(commands):
        raise click.BadParameter(f"there is no {', '.join(sorted(unknown))}; see --list")
    if only_list:
        for name, command in commands.items():
            click.echo(f"{name:<24} {command}")
        return
    FOLDER.mkdir(exist_ok=True)
    commit = find_commit()
    for name in names or commands:
        path = FOLDER / f"{name}.txt"
        if path.exists() and Kept.read(path).commit == commit:
            continue
        click.echo(f"{name}: {commands[name]}", err=True)
        path.write_text(run_command(name, commands[name], commit).write(), encoding="utf-8")
        (FOLDER / "index.md").write_text(write_index(read_all(FOLDER)), encoding="utf-8")


if __name__ == "__main__":
    main()

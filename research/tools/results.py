"""``python -m research.tools.results``: run audits and benchmarks, and keep what they print.

Each leaves ``research/results/NAME.txt``: the command, the commit, how it ended, and its output.
``research/results/index.md`` lists them. What was kept at the present commit is not run again, so
that a call that was interrupted goes on; names choose some, ``--list`` shows all, each with the
commit at which it was kept. All together take many hours. Audits may run side by side
(``--jobs``), benchmarks run alone.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import click
from research.benchmarks.__main__ import NAMES as BENCHMARKS

from boundit_research.rivals.catalogue import RIVALS
from tools import ROOT

FOLDER = ROOT / "research" / "results"
AUDITED, PARTS = 5_000, 20
"""Models of one part of the audit of bounds, and how many parts a release runs."""
_AUDITS = {
    "large": 300,
    "formulas": 10_000,
    "coverage": 1_000,
    "sharpness": 3,
    "plans": 1_000,
    "limits": 1_000,
    "comparisons": 2_000,
    "choices": 2_000,
    "stress": 1_000,
    "ablation": 250,
}
"""The other audits, with how many models each has."""
_OWN = {
    "widths": "python -m research.benchmarks.widths --logs 1000 --inference exact --jobs 2",
    "ml": "python -m research.benchmarks.ml --kinds linear",
}
"""Benchmarks that are run otherwise than by their name."""
_MORE = {
    "benchmark-widths-slow": (
        "python -m research.benchmarks.widths --cells min-of-external --logs 20000 "
        "--inference exact --jobs 2"
    ),
    "benchmark-service-year": "python -m research.benchmarks service --memory",
    "benchmark-ml-boosting": (
        "python -m research.benchmarks.ml --kinds boosting --rows 500 2000 --logs 40"
    ),
    "crash": "make crash",
    **{
        f"study-fused-{batch}": (
            f"boundit study logs --batch {batch} --world paper,flipped,shop "
            "--policies LinUCB,TS,Fused"
        )
        for batch in (1, 500, 2_000)
    },
    **{
        f"study-wrong-{batch}": (
            f"boundit study logs --batch {batch} --world wrong --policies LinUCB,Fused"
        )
        for batch in (1, 500)
    },
    **{
        f"study-observed-{batch}": (
            f"boundit study logs --batch {batch} --world shop --log-points 30000 "
            "--rounds 2000 --policies Fused-unseen,Fused"
        )
        for batch in (100, 500)
    },
    "study-confounded": (
        "boundit study logs --world confounded --rounds 6000 --policies LinUCB-PCB,LinUCB,Fused"
    ),
    "study-rivals": (
        "boundit study logs --world paper,flipped,shop --runs 10 "
        f"--policies {shlex.quote(','.join(('Fused-unseen', 'Fused', *RIVALS)))}"
    ),
}
"""What is too slow to run with the rest, kills, and the studies of Fused."""
_WRITING = Lock()  # the list of what is kept is read while it is written


@dataclass(frozen=True)
class Kept:
    """A command, and what it printed at a commit."""

    name: str
    command: str
    commit: str
    exit_code: int
    output: str

    def write(self) -> str:
        """Write what its file holds."""
        head = [
            f"command: {self.command}",
            f"commit: {self.commit}",
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
        found[f"benchmark-{name}"] = _OWN.get(name, f"python -m research.benchmarks {name}")
    return found | _MORE


def find_commit() -> str:
    """Find the present commit, with a plus where what is in the folder differs from it.

    Results that were kept just now do not count as a difference.
    """
    commit = _ask_git("rev-parse", "--short=8", "HEAD")
    changed = _ask_git("status", "--porcelain", "--", ".", ":(exclude)research/results")
    return commit + ("+" if changed else "")


def _ask_git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def run_command(name: str, command: str, commit: str) -> Kept:
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
    yield "What our audits and benchmarks printed, each at the commit it names; a release runs"
    yield "all of them again (`python -m research.tools.results`). Exit code 0 of an audit means"
    yield "that nothing missed on exact laws, and on drawn logs no more than confidence allows."
    yield "A plus behind a commit says that files were being changed. Of benchmarks, ratios"
    yield "within one run are what counts: machines are shared."
    yield ""
    yield "| Command | Commit | Exit code | Output |"
    yield "|---|---|---|---|"
    for one in kept:
        shown = f"[{one.name}]({one.name}.txt)"
        yield f"| `{one.command}` | {one.commit} | {one.exit_code} | {shown} |"


def is_kept(name: str, command: str, commit: str) -> bool:
    """Tell whether the result of a command at a commit is kept."""
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        return False
    kept = Kept.read(path)
    return (kept.command, kept.commit) == (command, commit)


def keep(name: str, command: str) -> None:
    """Run a command, write what it printed, and list it."""
    click.echo(f"{name}: {command}", err=True)
    kept = run_command(name, command, find_commit())
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
    """Run what is named, or all, unless it was run at this commit."""
    commands = list_commands()
    if unknown := set(names) - set(commands):
        raise click.BadParameter(f"there is no {', '.join(sorted(unknown))}; see --list")
    if only_list:
        for name, command in commands.items():
            path = FOLDER / f"{name}.txt"
            commit = Kept.read(path).commit if path.exists() else "not run"
            click.echo(f"{commit:<10}{name:<24} {command}")
        return
    FOLDER.mkdir(exist_ok=True)
    commit = find_commit()
    asked = [name for name in names or commands if not is_kept(name, commands[name], commit)]
    audits = [name for name in asked if name.startswith("audit-")]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda name: keep(name, commands[name]), audits))
    for name in [name for name in asked if name not in audits]:
        keep(name, commands[name])


if __name__ == "__main__":
    main()

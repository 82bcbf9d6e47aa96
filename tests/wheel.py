"""The wheel and the source archive without the repository: ``python -m tests.wheel``.

Both are built and compared with the folders they come from. The wheel is installed into an
empty environment outside of this folder, where the README's commands and examples must do
what it says.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from functools import partial
from pathlib import Path
from subprocess import PIPE, STDOUT
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import click

import boundit
from tests.docs.pages import ROOT, read_commands

README = ROOT / "README.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = tuple(
    found[1]
    for line in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
)
"""What we say that it runs on."""
EXTRAS = "arrow,ml,pandas,plot,polars,postgres,remote,service"


def list_files(folder: Path) -> set[str]:
    """List the files below a folder that are no traces of a run."""
    found = {path for path in folder.rglob("*") if path.is_file()}
    kept = {path for path in found if "__pycache__" not in path.parts}
    return {path.relative_to(folder.parent).as_posix() for path in kept}


def build(into: Path) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from it; gives wheel and archive."""
    command = [sys.executable, "-m", "build", "--outdir", str(into), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (wheel,), (archive,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return wheel, archive


def compare_files(wheel: Path, archive: Path) -> None:
    """Require that the wheel holds the package whole, and the archive its tests and pages."""
    package = list_files(ROOT / "src" / "boundit")
    with ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if ".dist-info/" not in name}
    if odd := sorted(held ^ package):
        raise SystemExit(f"the wheel differs from src/boundit: {', '.join(odd[:8])}")
    with tarfile.open(archive) as source:
        names = {Path(*Path(name).parts[1:]).as_posix() for name in source.getnames()}
    more = {README.name, "Makefile", "LICENSE", "pyproject.toml"}
    wanted = list_files(ROOT / "tests") | more
    if missing := sorted(wanted - names):
        raise SystemExit(f"the source archive lacks {', '.join(missing[:8])}")


def install(wheel: Path, into: Path) -> Path:
    """Install the wheel into an empty environment; gives its folder of programs."""
    venv.create(into, with_pip=True)
    programs = into / "bin"
    command = [str(programs / "pip"), "install", "-q", str(wheel)]
    subprocess.run([*command, "--disable-pip-version-check"], check=True)
    subprocess.run([str(programs / "pip"), "check"], check=True, stdout=subprocess.DEVNULL)
    return programs


def require_wheels(wheel: Path, version: str) -> None:
    """Require that all it needs, with its extras, comes as wheels for a version of Python.

    Only the Python that runs this can be tried; of the others this is what can be known.
    """
    options = ["--dry-run", "--quiet", "--ignore-installed", "--target", "unused"]
    found = ["--python-version", version, "--only-binary=:all:", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, *found, f"{wheel}[{EXTRAS}]"]
    if subprocess.run(command, cwd=wheel.parent, check=False).returncode:
        raise SystemExit(f"for Python {version} something it needs has no wheel")


def run_readme(programs: Path, folder: Path) -> int:
    """Run the README's commands, then its examples, in a folder with nothing but its data."""
    shutil.copytree(ROOT / "docs" / "data", folder / "docs" / "data")
    environment = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    environment["PATH"] = f"{programs}:/usr/bin:/bin"
    run = partial(subprocess.run, cwd=folder, env=environment, text=True, check=False)
    n = 0
    for command in read_commands(README):
        done = run(command.line, shell=True, stdout=PIPE, stderr=STDOUT)
        if done.returncode or not command.expects(done.stdout):
            raise SystemExit(f"$ {command.line}\n{done.stdout}\nexit code {done.returncode}")
        n += 1
    shutil.copy(README, folder)
    if run(["python", "-m", "doctest", "-o", "ELLIPSIS", README.name]).returncode:
        raise SystemExit("the examples of the README print something else")
    return n


# What a user's type checker must know of the installed package.
TYPED = """
import boundit as bd
import boundit.results

graph: bd.CausalGraph = bd.parse_graph("X -> Y")
bounds: bd.BoundTable = bd.derive_bounds(graph, "Y | do(X)", bd.read_log("log.csv"))
interval: bd.results.Interval = bounds[(1,), ()]
policy: bd.Fused = bd.Fused(prior=bounds)
decision: bd.Decision = policy.decide(())
wrong: int = bd.parse_graph("X -> Y")  # type: ignore[assignment]
"""


def check_types(programs: Path, folder: Path) -> None:
    """Check a user's code against the installed package; every public name has a type."""
    names = "\n".join(f"bd.{name}" for name in boundit.__all__)
    script = folder / "typed.py"
    script.write_text(TYPED + names + "\n", encoding="utf-8")
    options = ["--strict", "--python-executable", str(programs / "python"), "--config-file="]
    command = [sys.executable, "-m", "mypy", *options, script.name]
    if subprocess.run(command, cwd=folder, check=False).returncode:
        raise SystemExit("the installed package has other types than it says")


@click.command()
def main() -> None:
    """Build, install and try what would be released."""
    with TemporaryDirectory() as place:
        root = Path(place)
        wheel, archive = build(root / "dist")
        compare_files(wheel, archive)
        for version in PYTHONS:
            require_wheels(wheel, version)
        programs = install(wheel, root / "venv")
        folder = root / "empty"
        folder.mkdir()
        n = run_readme(programs, folder)
        check_types(programs, folder)
    click.echo(
        f"{wheel.name}: {n} commands and the examples of the README do what it says, "
        "and its types are known"
    )


if __name__ == "__main__":
    main()

"""``python -m tools.changelog 0.2.0``: put what waits in changelog.d/ into CHANGELOG.md.

Under the version and today's date, what was added, changed, fixed and removed, in the order of
the files' names. A file is an item, or a list of items. The files are then removed; with
``--dry-run`` all is printed instead.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import click

from tools.house.source import ROOT

CHANGELOG, WAITING = ROOT / "CHANGELOG.md", ROOT / "changelog.d"
_KINDS = ("added", "changed", "fixed", "removed")
_NOTHING = "No release has been made yet.\n"
_VERSION = re.compile(r"\d+\.\d+\.\d+")


def list_waiting(folder: Path) -> list[Path]:
    """List the files that wait, by name; refuse one that says no kind of change."""
    found = sorted(folder.glob("*.md"))
    for path in found:
        if _find_kind(path) not in _KINDS:
            raise click.ClickException(
                f"{path.name} is named for none of {', '.join(_KINDS)}, as in x.added.md"
            )
    return found


def _find_kind(path: Path) -> str:
    return path.stem.rpartition(".")[2]


def write_section(version: str, day: date, waiting: Sequence[Path]) -> str:
    """Write the part of one release."""
    return "\n".join(_list_lines(version, day, waiting))


def _list_lines(version: str, day: date, waiting: Sequence[Path]) -> Iterator[str]:
    yield f"## {version} ({day.isoformat()})"
    yield ""
    for kind in _KINDS:
        items = [path for path in waiting if _find_kind(path) == kind]
        if not items:
            continue
        yield f"### {kind.capitalize()}"
        yield ""
        for path in items:
            yield from _list_items(path.read_text(encoding="utf-8").strip().splitlines())
        yield ""


def _list_items(lines: Sequence[str]) -> Iterator[str]:
    """Give a list of items as it is, and make one item of anything else."""
    if lines[0].startswith("- "):
        yield from lines
        return
    yield f"- {lines[0]}"
    yield from (f"  {line}" if line else "" for line in lines[1:])


def insert_section(changelog: str, section: str) -> str:
    """Put a part before those of the releases before it."""
    head, mark, rest = changelog.replace(_NOTHING, "").partition("\n## ")
    return f"{head.rstrip()}\n\n{section}" + (f"{mark}{rest}" if mark else "")


@click.command(help=__doc__)
@click.argument("version")
@click.option("--dry-run", is_flag=True, help="Print it, and change nothing.")
def main(version: str, dry_run: bool) -> None:  # noqa: FBT001, click calls it
    """Assemble the changelog of a release."""
    if not _VERSION.fullmatch(version):
        raise click.BadParameter(f"a version is like 0.2.0, found {version!r}")
    waiting = list_waiting(WAITING)
    if not waiting:
        raise click.ClickException("nothing waits in changelog.d/")
    section = write_section(version, datetime.now(UTC).date(), waiting)
    if dry_run:
        click.echo(section)
        return
    before = CHANGELOG.read_text(encoding="utf-8")
    CHANGELOG.write_text(insert_section(before, section), encoding="utf-8")
    for path in waiting:
        path.unlink()


if __name__ == "__main__":
    main()

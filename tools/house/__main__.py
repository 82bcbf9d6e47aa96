"""``make house``: draw the house and record its walks; ``--check`` only says what is stale."""

import os
import sys
from pathlib import Path

import click

from tools.house.source import Source
from tools.house.strangers import draw_functions, write_answers, write_cards


@click.group(invoke_without_command=True)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when something is stale.")
@click.pass_context
def house(context: click.Context, *, check: bool) -> None:
    """Draw the rooms and record the walks into docs/."""
    if context.invoked_subcommand:
        return
    # Sets are walked in the order of their hashes, and so a trace hangs on them.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tools.house", *sys.argv[1:]])
    from tools.house.page import make_files  # noqa: PLC0415, loads the whole package

    stale = [path for path, text in make_files() if not _is_written(path, text, check=check)]
    if check and stale:
        click.echo(f"stale: {', '.join(map(str, stale))}; run make house", err=True)
        sys.exit(1)


def _is_written(path: Path, text: str, *, check: bool) -> bool:
    """Tell whether a file has a text; unless only checking, write it."""
    is_there = path.exists() and path.read_text(encoding="utf-8") == text
    if not is_there and not check:
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path}")
    return is_there


@house.command()
@click.option("--seed", default=1, show_default=True, help="What the draw hangs on.")
@click.option("--count", default=15, show_default=True, help="How many functions to draw.")
@click.option("--answers", is_flag=True, help="Who mentions each, for grading.")
def strangers(seed: int, count: int, *, answers: bool) -> None:
    """Draw functions and print path, name and docstring of each, for a stranger to judge."""
    source = Source()
    drawn = draw_functions(source, seed, count)
    click.echo(write_answers(drawn, source) if answers else write_cards(drawn))


if __name__ == "__main__":
    house()

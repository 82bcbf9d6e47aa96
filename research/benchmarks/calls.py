"""What one call of ``derive_bounds`` passes, and how long it takes beside release 0.2.0.

The call is that of the guides: ``docs/data/clicks.txt`` and ``clicks.csv``, once warm. Functions of
the package and their files are counted by ``sys.setprofile``, comprehensions and lambdas not. Times
are of the processor, the best of fifteen, both releases in turns. ``--list`` names every function.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from statistics import median
from typing import Any

import click
from research.benchmarks.speed import OLD

from tools import ROOT

TURNS = 5
_START = f"""
import json, sys, time, warnings
warnings.simplefilter("ignore")
import boundit as bd
root = {str(ROOT)!r} + "/docs/data/clicks"
graph, path = open(root + ".txt").read(), root + ".csv"
log, query = bd.read_log(path), "Click | do(Item), User"
"""
CALLS = {
    "from the file": "bd.derive_bounds(graph, query, path)",
    "log in memory": "bd.derive_bounds(graph, query, log)",
    "approximate": "bd.derive_bounds(graph, query, log, inference='approximate')",
    "plug-in": "bd.derive_bounds(graph, query, log, confidence=None)",
}
_TRACE = """
seen = set()
def hook(frame, event, arg):
    code = frame.f_code
    if event == "call" and "/src/boundit/" in code.co_filename and code.co_name[0] != "<":
        place = code.co_filename.split("/src/boundit/")[1], code.co_qualname
        seen.add(place)
{call}
{call}
sys.setprofile(hook)
{call}
sys.setprofile(None)
print(json.dumps(sorted(seen)))
"""
_TIME = """
def spend():
    start = time.process_time()
    {call}
    return time.process_time() - start
spend(), spend()
print(json.dumps(min(spend() for _ in range(15))))
"""


def _ask(python: object, code: str) -> Any:
    environ = dict(os.environ)
    if python != sys.executable:
        environ.pop("PYTHONPATH", None)  # it may lead to this tree
    ran = subprocess.run(
        [str(python), "-c", _START + code],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=environ,
    )
    if ran.returncode:
        raise click.ClickException(ran.stderr.strip().splitlines()[-1])
    return json.loads(ran.stdout.strip().splitlines()[-1])


def trace(python: object = sys.executable) -> list[tuple[str, str]]:
    """The files and functions of the package that a warm call passes, counting the log's file."""
    return [(f, name) for f, name in _ask(python, _TRACE.format(call=CALLS["from the file"]))]


@click.command
@click.option("--list", "listed", is_flag=True, help="Name every function that is passed.")
@click.option("--turns", default=TURNS, show_default=True)
def main(*, listed: bool, turns: int) -> None:
    """Count what a call passes, and time it beside 0.2.0."""
    old = OLD / ".venv/bin/python"
    for label, python in (("now", sys.executable), ("0.2.0", old)):
        seen = trace(python)
        files = {file for file, _ in seen}
        click.echo(f"{label}: {len(seen)} functions in {len(files)} files")
        if label == "now":
            held = Counter(file.split("/")[0] for file in files)
            for package, n in Counter(file.split("/")[0] for file, _ in seen).most_common():
                click.echo(f"  {package:<10}{n:>5} in {held[package]}")
            for file, name in seen if listed else ():
                click.echo(f"    {file:<36}{name}")
    click.echo(f"\n{'milliseconds':<20}{'now':>10}{'0.2.0':>10}{'ratio':>8}")
    for label, call in CALLS.items():
        code = _TIME.format(call=call)
        pairs = [
            (float(_ask(sys.executable, code)), float(_ask(old, code))) for _ in range(turns)
        ]
        now, before = (1e3 * median(times) for times in zip(*pairs, strict=True))
        ratio = median(one / other for one, other in pairs)
        click.echo(f"{label:<20}{now:>10.2f}{before:>10.2f}{ratio:>8.2f}")


def run(args: list[str] | None = None) -> None:
    """Run the command."""
    main(args or [], standalone_mode=False)

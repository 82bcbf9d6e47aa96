"""``boundit init``: a small example to start from, drawn from a model with a story."""

import csv
import tempfile
from io import StringIO
from pathlib import Path
from shlex import join

import click

from boundit.cli.options import command, flags
from boundit.cli.outputs import print_json
from boundit.simulation.pharmacy import COLUMNS, GRAPH, PATIENTS, QUERY, draw_kept_rows

COMMANDS = (
    ("graph", "graph.txt"),
    ("check", "graph.txt", "log.csv"),
    ("identify", "graph.txt", QUERY),
    ("effect", "graph.txt", QUERY, "log.csv", "--baseline", "letter"),
    ("bound", "graph.txt", QUERY, "log.csv", "--explain"),
    ("bound", "graph.txt", QUERY, "log.csv", "--out", "bounds.json"),
)

README = """\
# Which reminder makes patients refill?

A simulated pharmacy, to try boundit on. `graph.txt` is the causal graph, `log.csv` the log, in
which {rows:,} of {patients:,} reminders were kept. Run, in this folder:

```console
{commands}
```

`boundit identify` exits with 1: the log alone does not determine the effects. `boundit effect`
bounds them.

## The truth

The rows are drawn from this model (`boundit init` draws the same ones every time):

- Half of the patients are older. 30% of the younger and 60% of the older are seriously ill.
- Half have family at home, which was not recorded.
- Pharmacists send mild cases a letter, a text or a call with probabilities .35, .45, .20; serious
  cases with .20, .20, .60.
- The younger answer a letter, a text, a call with probabilities .1, .6, .7; the older with .1,
  .2, .7. Family at home adds .2 to each.
- A prescription is refilled with probability .2, plus .5 if the reminder is answered, plus .1
  with family at home, minus .2 if the illness is serious.
- A row is kept with probability .4 if the illness is mild and .9 if it is serious.

If everybody got the same reminder, these shares would refill:

| | letter | text | call |
|---|---|---|---|
| younger | .29 | .54 | .59 |
| older | .23 | .28 | .53 |

The averages of `log.csv` say that the younger refill more after a text than after a call.
They are wrong: calls went to those who refill less anyway.

## A policy that starts from the log

With the `bounds.json` that the last command wrote, in Python:

```python
import boundit as bd

policy = bd.Fused(prior=bd.BoundTable.load("bounds.json"))
decision = policy.decide("younger")
policy.learn(decision, reward=1, observed={{"Illness": "mild"}})  # observed: if it is known
```

## Your own data

Replace `log.csv` by your own rows (CSV or Parquet, one column for each measured node), write
your graph to `graph.txt`, and ask `'OUTCOME | do(TREATMENT), CONTEXT'`.
"""


@command(short_help="Write a commented example to start from.")
@click.argument(
    "directory",
    default="boundit-example",
    metavar="[DIR]",
    type=click.Path(path_type=Path, file_okay=False),
)
@click.option("--force", is_flag=True, help="Replace files of the same name.")
@flags("json")
def init(directory: Path, *, force: bool, as_json: bool) -> None:
    """Write a commented example to DIR to start from: a graph, a log and the commands.

    \b
    Examples:
      boundit init
      boundit init pharmacy
    """
    files = make_example()
    _write_files(files, directory, force=force)
    if as_json:
        print_json(
            {
                "directory": str(directory),
                "files": list(files),
                "commands": [["boundit", *each] for each in COMMANDS],
            }
        )
        return
    click.echo(f"wrote {', '.join(files)} to {directory}")
    click.echo("next:")
    click.echo(f"  {join(['cd', str(directory)])}")
    for each in COMMANDS:
        click.echo(f"  {join(['boundit', *each])}")


def make_example() -> dict[str, str]:
    """Make every file of the example: its name and its text."""
    log = list(draw_kept_rows())
    rows = StringIO()
    csv.writer(rows, lineterminator="\n").writerows([COLUMNS, *log])
    commands = "\n".join(f"$ {join(['boundit', *each])}" for each in COMMANDS)
    story = README.format(rows=len(log), patients=PATIENTS, commands=commands)
    return {"graph.txt": GRAPH, "log.csv": rows.getvalue(), "README.md": story}


def _write_files(files: dict[str, str], directory: Path, *, force: bool) -> None:
    """Write the example's files, all together; refuse to write over others without --force."""
    taken = [name for name in files if (directory / name).exists()]
    if taken and not force:
        hint = "name another directory, or replace with --force"
        raise click.ClickException(f"{directory / taken[0]} is there already; {hint}")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".boundit-") as aside:
            for name, text in files.items():
                (Path(aside) / name).write_text(text, encoding="utf-8", newline="\n")
            for name in files:
                (Path(aside) / name).replace(directory / name)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(f"cannot write to {directory}: {reason}") from None

"""``boundit suggest``: data and knowledge that would narrow the bounds."""

from pathlib import Path

import click

from boundit.bounds.options import spell_flag
from boundit.cli.options import command, flags
from boundit.cli.outputs import print_json, show_steps, write_answer
from boundit.cli.question import Question, takes_question


@command(short_help="Data and knowledge that would narrow the bounds.")
@takes_question()
@flags("seed", "report", "json")
def suggest(question: Question, seed: int, report: Path | None, *, as_json: bool) -> None:
    """List what would narrow the bounds of QUERY, by how wide they would be then.

    QUERY and LOG are as for 'boundit bound', and so are the options. Tried are the selection
    rate, tables of unselected data, the knowledge that an edge is absent, four times the rows,
    and a randomized trial of 1,000 units per arm and context.

    \b
    Examples:
      boundit suggest graph.txt 'Click | do(Ad), Age' log.csv
      boundit suggest graph.txt 'Click | do(Ad)' log.csv --time-limit 60 --json
      boundit suggest graph.txt 'Click | do(Ad)' log.csv --report out.html
    """
    from boundit.decisions.suggest import suggest as ask  # noqa: PLC0415, keeps --help quick

    with show_steps() as tell:
        found = ask(
            question.graph,
            question.query,
            question.log,
            seed=seed,
            progress=tell,
            **question.options,
        )
    if report is not None:
        write_answer(report, found.page(spell_flag))
    print_json(found.record()) if as_json else click.echo(found.format(spell_flag))

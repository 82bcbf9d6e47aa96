"""``boundit suggest``: what would narrow the bounds of a log, and by how much."""

from pathlib import Path

import click

from boundit.cli.options import command, flags
from boundit.cli.outputs import print_json, show_steps, write_answer
from boundit.cli.question import Question, takes_question


@command(short_help="Data and knowledge that would narrow the bounds.")
@takes_question()
@click.option(
    "--worlds",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="N",
    help="From how many worlds that fit the log the contents of tables are taken.",
)
@click.option(
    "--trial",
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    metavar="ROUNDS",
    help="How many rounds of each arm in each context a randomised trial would have.",
)
@flags("seed", "report", "json")
def suggest(
    question: Question,
    worlds: int,
    trial: int,
    seed: int,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Say what would narrow the bounds of QUERY, ranked by how wide they would be then.

    Tried are the selection rate, tables of everyone (the smallest that make the effect
    recoverable first), knowing that an edge is not there, four times the rows, and a randomised
    trial.

    \b
    Examples:
      boundit suggest graph.txt 'Click | do(Ad), Age' log.csv
      boundit suggest graph.txt 'Click | do(Ad)' log.csv --trial 500 --time-limit 60 --json
      boundit suggest graph.txt 'Click | do(Ad)' log.csv --report out.html
    """
    from boundit.decisions.suggest.page import make_suggest_page  # noqa: PLC0415
    from boundit.decisions.suggest.suggest import suggest as ask  # noqa: PLC0415

    with show_steps() as tell:
        found = ask(
            question.graph,
            question.query,
            question.log,
            worlds=worlds,
            trial=trial,
            seed=seed,
            progress=tell,
            **question.options,
        )
    if report is not None:
        write_answer(report, make_suggest_page(found, question.query))
    print_json(found.record()) if as_json else click.echo(str(found))

"""``boundit stress``: conclusions under each missing edge."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boundit.cli.decisions.policy_files import read_policy
from boundit.cli.options import command, flags
from boundit.cli.outputs import notify, print_json, show_steps, write_answer, write_with_flags
from boundit.cli.question import Question, takes_question
from boundit.core.message import Caveat

if TYPE_CHECKING:
    from boundit.results.bound_table import BoundTable


@command(short_help="Conclusions under each missing edge.")
@takes_question()
@click.option("--policy", metavar="POLICY", help="A policy to compare with --baseline.")
@flags("baseline", "level", "all_rows", "report", "json", baseline={"metavar": "POLICY"})
def stress(
    question: Question,
    policy: str | None,
    baseline: str | None,
    level: float,
    report: Path | None,
    *,
    all_rows: bool,
    as_json: bool,
) -> None:
    """Add each edge that GRAPH leaves out, one at a time, and see what is still concluded.

    QUERY and LOG are as for 'boundit bound', and so are the options; a POLICY is as for 'boundit
    compare'. The most harmful edge comes first, with what the data say of it.

    \b
    Examples:
      boundit stress graph.txt 'Click | do(Ad), Age' log.csv
      boundit stress graph.txt 'Click | do(Ad)' log.csv --time-limit 60
      boundit stress graph.txt 'Click | do(Ad)' log.csv --policy B --baseline A
      boundit stress graph.txt 'Click | do(Ad)' log.csv --report out.html
    """
    from boundit.bounds.request import read_request  # noqa: PLC0415, keeps --help quick
    from boundit.decisions.stress import stress_request  # noqa: PLC0415

    if (policy is None) != (baseline is None):
        raise click.UsageError("--policy and --baseline go together. Give both.")
    request = read_request(question.graph, question.query, question.log, **question.options)

    def read_sides(table: "BoundTable") -> tuple[Any, Any] | None:
        if policy is None or baseline is None:
            return None
        return read_policy(policy, table), read_policy(baseline, table)

    with show_steps() as tell:
        found = stress_request(question.graph, request, read_sides, level=level, progress=tell)
    found = replace(found, notes=tuple(map(write_with_flags, found.notes)))
    if report is not None:
        write_answer(report, found.page())
    if as_json:
        print_json(found.record())
        return
    click.echo(found.format(all_rows=all_rows))
    for note in found.caveats:
        said = Caveat.read(note)
        notify(said.kind, said.text)

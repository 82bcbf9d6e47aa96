"""``boundit stress``: which missing edges would overturn the answer."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.decisions.policy_files import read_policy, read_shares
from boundit.cli.options import Number, command, flags
from boundit.cli.outputs import notify, print_json, show_steps, write_answer, write_with_flags
from boundit.cli.question import Question, takes_question
from boundit.core.message import Caveat

if TYPE_CHECKING:
    from boundit.decisions.stress.verdict import ComparedPolicies
    from boundit.graph.causal_graph import CausalGraph
    from boundit.results.bound_table import BoundTable


@command(short_help="Conclusions under each missing edge.")
@takes_question()
@click.option(
    "--rule",
    type=click.Choice(["minimax-regret", "maximin", "optimism"]),
    default="minimax-regret",
    show_default=True,
    help="By what the arm of each context is chosen, as for 'boundit choose'.",
)
@click.option(
    "--optimism",
    type=Number(0, 1),
    metavar="H",
    help="With --rule optimism: 0 looks at lower ends alone, 1 at upper ends.",
)
@flags("level")
@click.option(
    "--new",
    metavar="POLICY",
    help="A policy to compare with --old, as for 'boundit compare': its verdict is tried too.",
)
@click.option("--old", metavar="POLICY", help="The policy that --new is compared with.")
@click.option(
    "--contexts",
    metavar="FILE|any|log",
    help="How often contexts come, for --new and --old.",
)
@flags("report", "json")
def stress(
    question: Question,
    rule: str,
    optimism: float | None,
    level: float,
    new: str | None,
    old: str | None,
    contexts: str | None,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Add every edge that GRAPH leaves out, one at a time, and see what becomes of the answer.

    QUERY and LOG are as for 'boundit bound', and so are the options. The most harmful edge
    comes first, with what the log itself says of it. With --time-limit the edges that were not
    reached are named.

    \b
    Examples:
      boundit stress graph.txt 'Click | do(Ad), Age' log.csv
      boundit stress graph.txt 'Click | do(Ad)' log.csv --time-limit 60
      boundit stress graph.txt 'Click | do(Ad)' log.csv --selection-rate 0.3 --json
      boundit stress graph.txt 'Click | do(Ad)' log.csv --new B --old A
      boundit stress graph.txt 'Click | do(Ad)' log.csv --report out.html
    """
    from boundit.bounds.request import read_request  # noqa: PLC0415, keeps --help quick
    from boundit.decisions.stress.page import make_stress_page  # noqa: PLC0415, keeps --help quick
    from boundit.decisions.stress.stress import stress_request  # noqa: PLC0415, keeps --help quick

    graph: CausalGraph = question.graph
    request = read_request(graph, question.query, question.log, **question.options)
    with show_steps() as tell:
        found = stress_request(
            graph,
            request,
            rule=rule,  # type: ignore[arg-type]
            optimism=optimism,
            level=level,
            progress=tell,
            read_compared=lambda table: _read_compared(new, old, contexts, table),
        )
    found = replace(found, notes=tuple(map(write_with_flags, found.notes)))
    if report is not None:
        write_answer(report, make_stress_page(found))
    if as_json:
        print_json(found.record())
        return
    click.echo(str(found))
    for note in found.caveats:
        said = Caveat.read(note)
        notify(said.kind, said.text)


def _read_compared(
    new: str | None, old: str | None, contexts: str | None, table: "BoundTable"
) -> "ComparedPolicies | None":
    """Read the policies that --new and --old name, once the arms are known."""
    from boundit.decisions.stress.verdict import ComparedPolicies  # noqa: PLC0415, as above

    return ComparedPolicies.read(
        None if new is None else read_policy(new, table),
        None if old is None else read_policy(old, table),
        None if contexts is None else read_shares(contexts, table),
    )

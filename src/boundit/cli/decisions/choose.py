"""``boundit choose``: the arm of each context, and its maximum regret."""

from pathlib import Path
from typing import Any

import click

from boundit.cli.decisions.answer import bound_options, is_given, read_answer, read_costs
from boundit.cli.options import json_option, report_option
from boundit.cli.outputs import OutputFile, notify, notify_written, print_json, write_answer


@bound_options
@click.command(short_help="Choose an arm for every context.")
@click.argument("answer", nargs=-1, required=True, metavar="BOUNDS.json|GRAPH QUERY LOG...")
@click.option(
    "--rule",
    type=click.Choice(["minimax-regret", "maximin"]),
    default="minimax-regret",
    show_default=True,
    help="The arm of least maximum regret, or of the greatest lower endpoint.",
)
@click.option("--randomize", is_flag=True, help="Allow arms to be drawn with probabilities.")
@click.option(
    "--cost",
    multiple=True,
    metavar="ARM=COST",
    help="Cost of an arm, in units of the outcome; repeatable.",
)
@click.option(
    "--out",
    type=OutputFile(".csv", ".json"),
    metavar="FILE",
    help="Save the probabilities of arms by context, for 'boundit compare --policy FILE'.",
)
@report_option
@json_option
@click.pass_context
def choose(
    context: click.Context,
    /,
    answer: tuple[str, ...],
    rule: str,
    cost: tuple[str, ...],
    out: Path | None,
    report: Path | None,
    *,
    randomize: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Choose an arm for every context, and bound its regret: how far it is from the best arm.

    BOUNDS.json is a table that 'boundit bound --out' saved. Or give GRAPH, QUERY and LOG files
    as to 'boundit bound', with its options. Several GRAPH files with commas between them: the
    regret is valid if any of them is right.

    \b
    Examples:
      boundit choose bounds.json
      boundit choose bounds.json --rule maximin --json
      boundit choose graph.txt 'Click | do(Ad), Age' log.csv --cost B=0.02
      boundit choose graph.txt,other.txt 'Click | do(Ad), Age' log.csv
      boundit choose bounds.json --out policy.csv
    """
    table = read_answer(context, answer, asked).table
    choice = table.choose(
        rule,  # type: ignore[arg-type]
        randomize=randomize,
        costs=read_costs(cost, table),
        goal=asked["goal"] if is_given(context, "goal") else None,
    )
    if out is not None:
        from boundit.cli.decisions.policy_files import write_policy  # noqa: PLC0415

        write_policy(choice, out)
        notify_written(out)
    if report is not None:
        from boundit.decisions.pages import make_choice_page  # noqa: PLC0415

        write_answer(report, make_choice_page(choice, table.caveats))
    if as_json:
        print_json({"sure": choice.sure, **choice.record(), "caveats": table.caveats})
        return
    click.echo(str(choice))
    for note in table.caveats:
        notify(note.kind, note.text)

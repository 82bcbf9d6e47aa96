"""``boundit choose``: the arm of each context, and its maximum regret."""

from pathlib import Path

import click

from boundit.cli.decisions.policy_files import read_costs, write_policy
from boundit.cli.options import command, flags
from boundit.cli.outputs import (
    OutputFile,
    notify,
    notify_written,
    print_json,
    spell_caveats,
    write_answer,
)
from boundit.cli.question import Question, takes_question


@command(short_help="Arm for each context and its maximum regret.")
@takes_question(saved=True, several=True)
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
@flags(
    "out",
    "report",
    "json",
    out={
        "type": OutputFile(".csv", ".json"),
        "metavar": "FILE",
        "help": "Save the probabilities of arms, for 'boundit compare --policy FILE'.",
    },
)
def choose(
    question: Question,
    rule: str,
    cost: tuple[str, ...],
    out: Path | None,
    report: Path | None,
    *,
    randomize: bool,
    as_json: bool,
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
    table = spell_caveats(question.derive())
    choice = table.choose(
        rule,  # type: ignore[arg-type]
        randomize=randomize,
        costs=read_costs(cost, table),
        goal=question.goal,  # type: ignore[arg-type]
    )
    if out is not None:
        write_policy(choice, out)
        notify_written(out)
    if report is not None:
        from boundit.report.bounds import make_choice_page  # noqa: PLC0415

        write_answer(report, make_choice_page(choice, table.caveats))
    if as_json:
        print_json({"sure": choice.sure, **choice.record(), "caveats": table.caveats})
        return
    click.echo(str(choice))
    for note in table.caveats:
        notify(note.kind, note.text)

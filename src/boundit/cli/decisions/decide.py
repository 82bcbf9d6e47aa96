"""``boundit decide``: which arm, or which lottery over arms, to use in each context."""

from pathlib import Path

import click

from boundit.cli.options import Number, command, flags
from boundit.cli.outputs import notify, print_json, spell_caveats, write_answer
from boundit.cli.question import Question, takes_question


@command(short_help="Arm for each context and its maximum regret.")
@takes_question(saved=True, several=True)
@click.option(
    "--rule",
    type=click.Choice(["minimax-regret", "maximin", "optimism"]),
    default="minimax-regret",
    show_default=True,
    help="Fall least short of the highest mean at worst, be sure of most, or weigh the ends.",
)
@click.option(
    "--optimism",
    type=Number(0, 1),
    metavar="H",
    help="With --rule optimism: 0 looks at lower ends alone, 1 at upper ends.",
)
@click.option("--single", is_flag=True, help="One arm in each context, and no lottery.")
@flags("report", "json")
def decide(
    question: Question,
    rule: str,
    optimism: float | None,
    report: Path | None,
    *,
    single: bool,
    as_json: bool,
) -> None:
    """Choose an arm, or a lottery over arms, for every context, and say what it may cost.

    BOUNDS.json is a table that 'boundit bound --out' or bounds.save wrote. Or give GRAPH, QUERY
    and LOG files as to 'boundit bound', with its options.

    The regret is how much less than the best arm is earned, at worst. That of a lottery is its
    mean over the draw.

    \b
    Examples:
      boundit decide bounds.json
      boundit decide bounds.json --rule maximin --json
      boundit decide graph.txt 'Click | do(Ad), Age' log.csv --single
      boundit decide graph.txt,other.txt 'Click | do(Ad), Age' log.csv
      boundit decide bounds.json --report out.html
    """
    table = spell_caveats(question.derive())
    choice = table.choose(
        rule,  # type: ignore[arg-type]
        optimism=optimism,
        lottery=not single,
        goal=question.goal,  # type: ignore[arg-type]
    )
    if report is not None:
        from boundit.decisions.choose.page import make_choice_page  # noqa: PLC0415, as above

        write_answer(report, make_choice_page(choice, table.caveats))
    if as_json:
        print_json({"sure": choice.sure, **choice.record(), "caveats": table.caveats})
        return
    click.echo(str(choice))
    for note in table.caveats:
        notify(note.kind, note.text)

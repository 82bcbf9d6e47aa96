"""``boundit sensitivity``: bounds by a limit, and the breakdown point of a conclusion."""

from pathlib import Path

import click

from boundit.cli.options import Number, command, flags
from boundit.cli.outputs import (
    notify,
    notify_written,
    print_json,
    show_steps,
    write_answer,
    write_with_flags,
)
from boundit.cli.question import Question, takes_question


class _Limit(click.types.StringParamType):
    """What is limited; where it is missing, the error says what there is."""

    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002, as click calls it
        ctx: click.Context | None,  # noqa: ARG002
    ) -> str:
        return "Write --limit 'X <-> Y' for an edge, or --limit selection."


@command(short_help="Curve over a limit, and the breakdown point.")
@takes_question()
@click.option(
    "--limit",
    required=True,
    type=_Limit(),
    metavar="'X <-> Y'|selection",
    help="What is limited: confounding by an edge, or selection.",
)
@click.option(
    "--arm", metavar="VALUE,...", help="The conclusion is about this arm: it is the best one."
)
@flags("baseline")
@click.option(
    "--at-least",
    type=Number(),
    metavar="D",
    help="It is better than --baseline by at least D; without one, its mean is at least D.",
)
@click.option("--context", "where", metavar="VALUE,...", help="The context of the conclusion.")
@flags("plot", "report", "json")
@click.pass_context
def sensitivity(
    context: click.Context,
    /,
    question: Question,
    limit: str,
    arm: str | None,
    baseline: str | None,
    at_least: float | None,
    where: str | None,
    plot: Path | None,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Bound QUERY under growing limits, and find the limit at which a conclusion fails.

    QUERY and LOG are as for 'boundit bound', and so are the options. The conclusion is that
    --arm is the best one, or what the other options say. Exits 1 where it fails.

    \b
    Examples:
      boundit sensitivity graph.txt 'Click | do(Ad)' log.csv --limit 'Ad <-> Click' --arm B
      boundit sensitivity graph.txt 'Click | do(Ad)' log.csv --limit selection --plot g.svg
      boundit sensitivity graph.txt 'Click | do(Ad), Age' log.csv --limit 'Ad <-> Click' \\
        --arm B --baseline A --at-least 0.1 --context young
    """
    from boundit.bounds.options import read_levels  # noqa: PLC0415, keeps --help quick
    from boundit.bounds.request import read_request  # noqa: PLC0415
    from boundit.decisions.sensitivity import vary_limit  # noqa: PLC0415

    request = read_request(question.graph, question.query, question.log, **question.options)
    with show_steps() as tell:
        found = vary_limit(
            request,
            limit,
            arm=None if arm is None else tuple(read_levels(arm)),
            baseline=None if baseline is None else tuple(read_levels(baseline)),
            at_least=at_least,
            context=None if where is None else tuple(read_levels(where)),
            progress=tell,
        )
    if plot is not None:
        found.plot(plot)
        notify_written(plot)
    if report is not None:
        write_answer(report, found.page())
    if as_json:
        print_json(found.record())
    else:
        click.echo(str(found))
        for note in found.caveats:
            notify(note.kind, str(write_with_flags(note.message)))
    context.exit(0 if found else 1)

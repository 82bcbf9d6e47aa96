"""``boundit breakdown``: from which limit on what is hidden a claim falls."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.bounds.options import read_levels
from boundit.cli.options import Number, command, flags
from boundit.cli.outputs import print_json, show_steps, write_answer
from boundit.cli.question import Question, takes_question

if TYPE_CHECKING:
    from boundit.decisions.breakdown.claims import Claim


class _LimitedPart(click.types.StringParamType):
    """What a limit is on; where it is missing, the refusal says what there is."""

    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002, as click calls it
        ctx: click.Context | None,  # noqa: ARG002
    ) -> str:
        """Say what may be written behind --of."""
        return "Write --of 'X <-> Y' for an edge that hides a cause, or --of selection."


@command(short_help="Limit at which a conclusion fails.")
@takes_question()
@click.option(
    "--of",
    required=True,
    type=_LimitedPart(),
    metavar="'X <-> Y'|selection",
    help="What the limit is on: an edge that hides a cause, or selection.",
)
@click.option("--arm", metavar="VALUE,...", help="The arm that something is claimed of.")
@click.option(
    "--than",
    metavar="VALUE,...",
    help="Claim that --arm has a higher mean than this arm, not all.",
)
@click.option(
    "--by",
    type=Number(),
    metavar="D",
    help="With --than: claim that its mean is at least D higher.",
)
@click.option(
    "--at-least",
    type=Number(),
    metavar="V",
    help="Claim that the mean of --arm is at least V instead.",
)
@click.option(
    "--regret", type=Number(0), metavar="R", help="Claim that --arm regrets at most R instead."
)
@click.option("--in", "where", metavar="VALUE,...", help="The context of the claim.")
@click.option(
    "--most",
    type=Number(1, min_open=True),
    metavar="LIMIT",
    default=100.0,
    show_default=True,
    help="The largest limit that is looked at.",
)
@flags("report", "json")
@click.pass_context
def breakdown(
    context: click.Context,
    question: Question,
    of: str,
    arm: str | None,
    than: str | None,
    by: float | None,
    at_least: float | None,
    regret: float | None,
    where: str | None,
    most: float,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Find the smallest limit on what is hidden at which a claim is not proved any more.

    With --arm alone the claim is that it is the best one; without --arm, that the choice of
    least regret stays what it is. Exits 1 where the claim falls.

    \b
    Examples:
      boundit breakdown graph.txt 'Click | do(Ad)' log.csv --of 'Ad <-> Click' --arm B
      boundit breakdown graph.txt 'Click | do(Ad)' log.csv --of selection --arm B --than A
      boundit breakdown graph.txt 'Click | do(Ad), Age' log.csv --of 'Ad <-> Click' --arm B \\
        --at-least 0.1 --in young
      boundit breakdown graph.txt 'Click | do(Ad)' log.csv --of 'Ad <-> Click' --most 20 \\
        --report out.html
    """
    from boundit.decisions.breakdown.find import breakdown as find  # noqa: PLC0415, quick --help
    from boundit.decisions.breakdown.page import make_breakdown_page  # noqa: PLC0415

    claim = _read_claim(arm, where, than=than, by=by, at_least=at_least, regret=regret)
    with show_steps() as tell:
        found = find(
            question.graph,
            question.query,
            question.log,
            of=of,
            claim=claim,
            most=most,
            progress=tell,
            **question.options,
        )
    if report is not None:
        write_answer(report, make_breakdown_page(found, question.query))
    if as_json:
        print_json(found.record())
    else:
        click.echo(str(found))
    context.exit(0 if found.survives else 1)


def _read_claim(
    arm: str | None,
    where: str | None,
    *,
    than: str | None,
    by: float | None,
    at_least: float | None,
    regret: float | None,
) -> "Claim | None":
    """Read what is claimed of an arm from the options; None asks about the choice."""
    from boundit.decisions.breakdown.claims import (  # noqa: PLC0415, keeps --help quick
        Best,
        Better,
        Earns,
        Regrets,
    )

    kinds = {"--than": than, "--at-least": at_least, "--regret": regret}
    given = [flag for flag, value in kinds.items() if value is not None]
    _refuse_mixed(arm, given, [*given, *(["--in"] if where else [])], by=by)
    if arm is None:
        return None
    one, context = tuple(read_levels(arm)), tuple(read_levels(where)) if where else ()
    if than is not None:
        return Better(one, tuple(read_levels(than)), by or 0.0, context)
    if at_least is not None:
        return Earns(one, at_least, context)
    return Best(one, context) if regret is None else Regrets(one, regret, context)


def _refuse_mixed(
    arm: str | None, claims: list[str], of_arm: list[str], *, by: float | None
) -> None:
    """Refuse flags of several claims at once, and claims that name no arm.

    ``of_arm`` are the flags that only an arm gives a meaning.
    """
    if len(claims) > 1:
        raise click.UsageError(f"{' and '.join(claims)} are different claims; give one")
    if by is not None and "--than" not in claims:
        raise click.UsageError("--by goes with --than")
    if arm is None and of_arm:
        raise click.UsageError(f"{of_arm[0]} is about an arm; name one with --arm")

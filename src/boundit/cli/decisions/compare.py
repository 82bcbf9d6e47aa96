"""``boundit compare``: whether one policy is better than another."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.decisions.policy_files import read_costs, read_policy, read_shares
from boundit.cli.options import Number, command, flags, is_path
from boundit.cli.outputs import (
    notify,
    print_json,
    refuse_overwriting,
    spell_caveats,
    write_answer,
)
from boundit.cli.question import Question, takes_question

if TYPE_CHECKING:
    from boundit.decisions.evaluation import Estimator


@command(short_help="Better, worse or inconclusive?")
@takes_question(saved=True)
@click.option("--policy", required=True, metavar="POLICY", help="The policy to compare.")
@flags("baseline", "shares", baseline={"required": True})
@click.option(
    "--cost",
    multiple=True,
    metavar="ARM=COST",
    help="Cost of an arm, in units of the outcome; repeatable.",
)
@click.option(
    "--propensity",
    metavar="COLUMN",
    help="Probability of the arm of the row under the logging policy; adds an estimate.",
)
@click.option(
    "--estimator",
    type=click.Choice(["ips", "dr"]),
    default="ips",
    show_default=True,
    help="With --propensity: inverse propensity scoring, or doubly robust.",
)
@click.option(
    "--min-propensity",
    type=Number(0, 1, min_open=True),
    metavar="P",
    help="With --estimator dr: the smallest possible propensity.",
)
@flags("report", "json")
@click.pass_context
def compare(
    context: click.Context,
    /,
    question: Question,
    policy: str,
    baseline: str,
    shares: str | None,
    cost: tuple[str, ...],
    propensity: str | None,
    estimator: "Estimator",
    min_propensity: float | None,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Bound the mean outcome of --policy minus that of --baseline, and say which is better.

    BOUNDS.json is a table that 'boundit bound --out' saved. Or give GRAPH, QUERY and LOG files
    as to 'boundit bound', with its options.

    A POLICY is an arm ('A', or 'A,1' for two treatments); a CSV or JSON file with the columns
    of contexts and arms, and 'probability' where an arm is not always chosen; a saved policy;
    'choice', what the bounds choose; 'log', the logging policy (with GRAPH QUERY LOG); or a
    measured mean with its error, and the confidence of that ('0.33+-0.02@0.99').

    Exits 1 unless the policy is better.

    \b
    Examples:
      boundit compare bounds.json --policy B --baseline A
      boundit compare bounds.json --policy B --baseline 0.33+-0.02@0.99
      boundit compare bounds.json --policy new.csv --baseline old.csv --shares shares.csv
      boundit compare graph.txt 'Y | do(X), C' log.csv --policy B --baseline log --shares log
    """
    shares = shares or "any"
    from boundit.bounds.request import read_request  # noqa: PLC0415, keeps --help quick
    from boundit.decisions.compare import compare_by  # noqa: PLC0415

    refuse_overwriting(context, filter(is_path, (policy, baseline, shares)))
    table, request = spell_caveats(question.derive()), None
    if not question.saved:
        request = read_request(question.graph, question.query, question.log, **question.options)
    compared = compare_by(
        table,
        read_policy(policy, table),
        read_policy(baseline, table),
        shares=read_shares(shares, table),
        goal=question.goal,  # type: ignore[arg-type]
        costs=read_costs(cost, table),
        log=None if request is None else request.log,
        request=request,
        propensity=propensity,
        estimator=estimator,
        min_propensity=min_propensity,
    )
    if report is not None:
        write_answer(report, compared.page())
    if as_json:
        print_json(compared.record() | {"rows": compared.rows(), "caveats": table.caveats})
    else:
        click.echo(str(compared))
        for note in table.caveats:
            notify(note.kind, note.text)
    context.exit(0 if compared else 1)

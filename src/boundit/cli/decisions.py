"""Commands of decisions: choose, compare, sensitivity, stress, suggest."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boundit.bounds.options import spell_flag
from boundit.cli.options import Number, command, flags, is_path
from boundit.cli.outputs import (
    OutputFile,
    notify,
    notify_written,
    print_json,
    refuse_overwriting,
    show_steps,
    spell_caveats,
    write_answer,
    write_with_flags,
)
from boundit.cli.question import Question, takes_question
from boundit.cli.values import read_costs, read_policy, read_shares, write_policy
from boundit.core.message import Caveat

if TYPE_CHECKING:
    from boundit.decisions.evaluation import Estimator
    from boundit.results.bound_table import BoundTable


_COST = click.option(
    "--cost",
    multiple=True,
    metavar="ARM=COST",
    help="Cost of an arm, in units of the outcome; repeatable.",
)


@command(short_help="Arm for each context and its maximum regret.")
@takes_question(saved=True, several=True)
@click.option(
    "--rule",
    type=click.Choice(["minimax-regret", "maximin"]),
    default="minimax-regret",
    show_default=True,
    help="The arm of least maximum regret, or of the greatest lower endpoint.",
)
@click.option("--randomize", is_flag=True, help="Allow several arms, each with a probability.")
@_COST
@flags(
    "all_rows",
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
    all_rows: bool,
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
    click.echo(choice.format(all_rows=all_rows))
    for note in table.caveats:
        notify(note.kind, note.text)


@command(short_help="Better, worse or inconclusive?")
@takes_question(saved=True)
@flags("policy", "baseline", "shares", policy={"required": True}, baseline={"required": True})
@_COST
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
@flags("all_rows", "report", "json")
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
    all_rows: bool,
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
        click.echo(compared.format(all_rows=all_rows))
        for note in table.caveats:
            notify(note.kind, note.text)
    context.exit(0 if compared else 1)


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
    "--arm",
    metavar="VALUE,...",
    help="The conclusion is that this arm is the best, or better than --baseline.",
)
@flags("baseline")
@click.option(
    "--at-least",
    type=float,
    metavar="D",
    help="The arm is better than --baseline by at least D; without one, its mean is at least D.",
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
    from boundit.decisions.sensitivity import sensitivity as vary  # noqa: PLC0415

    with show_steps() as tell:
        found = vary(
            question.graph,
            question.query,
            question.log,
            limit=limit,
            arm=None if arm is None else tuple(read_levels(arm)),
            baseline=None if baseline is None else tuple(read_levels(baseline)),
            at_least=at_least,
            context=None if where is None else tuple(read_levels(where)),
            progress=tell,
            **question.options,
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


@command(short_help="Conclusions under each missing edge.")
@takes_question()
@flags("policy", "baseline", "level", "all_rows", "report", "json")
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

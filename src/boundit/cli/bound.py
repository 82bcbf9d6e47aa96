"""``boundit bound`` and ``boundit effect``: intervals for arms, and for what sets them apart."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from boundit.bounds.options import spell_flag
from boundit.cli.options import command, flags
from boundit.cli.outputs import (
    notify,
    notify_written,
    print_json,
    show_steps,
    spell_caveats,
    spell_command,
)
from boundit.cli.question import Question, takes_question
from boundit.cli.values import read_arm, read_shares
from boundit.core.errors import BounditError
from boundit.graph.causal_graph import CausalGraph

if TYPE_CHECKING:
    from boundit.results.bound_table import BoundTable
    from boundit.results.choice import Choice
    from boundit.results.effect import Effect

HELP_TIME = 20.0
"""For how many seconds it is asked what would help, where nothing is known."""
MOST_CHOSEN = 10_000
"""For how many contexts a page names the arm to choose; that takes about a second for 5,000."""


@command(short_help="Bounds on the mean outcome under each arm.")
@takes_question(several=True)
@flags("explain", "all_rows", "out", "no_counts", "plot", "report", "json")
def bound(
    question: Question,
    out: Path | None,
    plot: Path | None,
    report: Path | None,
    *,
    explain: bool,
    all_rows: bool,
    no_counts: bool,
    as_json: bool,
) -> None:
    """Bound the mean outcome under each arm in each context.

    An arm is a value of the treatments in do(...). GRAPH may be several files with commas: the
    bounds then hold if any of the graphs is right.

    \b
    Examples:
      boundit bound graph.txt 'Click | do(Ad), Age' log.csv
      boundit bound graph.txt 'Click | do(Ad), Age' 'logs/*.parquet' --out bounds.json
      boundit bound graph.txt 'Click | do(Ad)' log.csv --selection-rate 0.3 --report out.html
      boundit bound graph.txt 'Click | do(Ad)' counts.csv --weight n --external census.csv
      boundit bound graph.txt 'Click | do(Ad)' log.csv --confounding-limit 'Ad <-> Click=1.5'
    """
    table = question.derive()
    if out is not None:
        table.save(out, counts=not no_counts)
        notify_written(out)
    table = spell_caveats(table)
    if plot is not None:
        table.plot(plot)
        notify_written(plot)
    if report is not None:
        _write_report(report, table.drop_counts() if no_counts else table, question)
    reasons = [str(table.explain(*key)) for key in table.bounds] if explain else []
    if as_json:
        print_json(write_record(table) | ({"explanations": reasons} if explain else {}))
    elif explain:
        click.echo("\n".join(reasons))
    else:
        from boundit.results.text import says_nothing, write_bounds  # noqa: PLC0415, keeps --help quick

        click.echo(write_bounds(table, all_rows=all_rows, caveats=False))
        _print_notes(table, question, silent=says_nothing(table))


@command(short_help="Effect of each arm, compared with a baseline.")
@takes_question(saved=True, several=True)
@flags("baseline", "shares", "explain", "all_rows", "no_counts", "plot", "report", "json")
def effect(
    question: Question,
    baseline: str | None,
    shares: str | None,
    plot: Path | None,
    report: Path | None,
    *,
    explain: bool,
    all_rows: bool,
    no_counts: bool,
    as_json: bool,
) -> None:
    """Bound the effect of each arm in each context: its mean outcome minus the baseline's.

    Without --baseline it is the arm 0, false or no if there is one, else the arm with most
    rows. BOUNDS.json is a table that 'boundit bound --out' saved. GRAPH may be several files
    with commas: the effects then hold if any of the graphs is right.

    \b
    Examples:
      boundit effect graph.txt 'Click | do(Ad), Age' log.csv
      boundit effect graph.txt 'Click | do(Ad), Age' log.csv --baseline A --report out.html
      boundit effect bounds.json --baseline A --shares shares.csv
    """
    table = spell_caveats(question.derive())
    if no_counts:
        table = table.drop_counts()
    arm = None if baseline is None else read_arm(baseline, table)
    effects = table.effects(arm, shares=_read_shares(shares, table))
    if plot is not None and effects:
        from boundit.report.plot import plot_effects  # noqa: PLC0415, keeps --help quick

        plot_effects(list(effects.values()), plot)
        notify_written(plot)
    if report is not None:
        _write_report(report, table, question, list(effects.values()))
    reasons = list(_explain_effects(table, list(effects.values()))) if explain else []
    if as_json:
        print_json(
            {
                "rows": [row for each in effects.values() for row in each.rows()],
                "baseline": dict(zip(table.treatments, arm, strict=True)) if arm else None,
                "confidence": table.confidence,
                "caveats": table.caveats,
            }
            | ({"explanations": reasons} if explain else {})
        )
    elif explain:
        click.echo("\n".join(reasons))
    else:
        from boundit.results.text import are_silent, write_effects  # noqa: PLC0415, keeps --help quick

        found = list(effects.values())
        click.echo(write_effects(found, all_rows=all_rows, caveats=False))
        _print_notes(table, question, silent=bool(found) and are_silent(found))


def _explain_effects(table: "BoundTable", effects: "Sequence[Effect]") -> Iterator[str]:
    """Explain every effect, then the bounds of the arms."""
    for effect in effects:
        yield from map(effect.explain_difference, effect.intervals)
    yield from (str(table.explain(*key)) for key in table.bounds)


def _print_notes(table: "BoundTable", question: Question, *, silent: bool) -> None:
    """Print caveats; where nothing is known, what would help first."""
    from boundit.results.text import WHY  # noqa: PLC0415, keeps --help quick

    if silent and isinstance(question.graph, CausalGraph):
        for line in _ask_what_helps(question):
            click.echo(line)
    for note in table.caveats:
        if not (silent and note.kind in WHY):
            notify(note.kind, note.text)


def _ask_what_helps(question: Question) -> list[str]:
    """What would narrow the bounds, a step of each kind; nothing where that cannot be said."""
    from boundit.decisions.suggest import suggest  # noqa: PLC0415, keeps --help quick

    options = {
        **question.options,
        "time_limit": question.options.get("time_limit") or HELP_TIME,
    }
    try:
        with show_steps() as progress:
            found = suggest(
                question.graph, question.query, question.log, progress=progress, **options
            )
    except BounditError:
        return []
    return found.write_help(spell_flag)


def _read_shares(
    text: str | None, table: "BoundTable"
) -> Mapping[object, float] | Literal["any"]:
    """Read --shares of an effect: any mix, or a table of shares."""
    found = read_shares(text or "any", table)
    if isinstance(found, Mapping):
        return found
    if found == "any":
        return "any"
    raise click.UsageError(
        f"--shares {text} has no shares of contexts. Give a CSV file with the columns "
        f"{', '.join((*table.context, 'share'))}, or 'any'."
    )


def _write_report(
    path: Path,
    table: "BoundTable",
    question: Question,
    effects: "Sequence[Effect] | None" = None,
) -> None:
    """Write the page of a table, with the command that repeats it."""
    from boundit.core.files import write_page  # noqa: PLC0415, keeps --help quick
    from boundit.report.bounds import write_bounds_page  # noqa: PLC0415

    page = write_bounds_page(
        table,
        effects=effects,
        graph=question.graph if isinstance(question.graph, CausalGraph) else None,
        command=spell_command(),
        choice=_choose(table),
    )
    write_page(path, page)
    notify_written(path)


def _choose(table: "BoundTable") -> "Choice | None":
    """Choose an arm in each context; None where that takes long or the table contradicts itself."""
    if len(table.contexts) > MOST_CHOSEN:
        return None
    try:
        return table.choose()
    except BounditError:
        return None


def write_record(table: "BoundTable") -> dict[str, object]:
    """Write a table for JSON: its rows, why they are as wide as they are, and what they rest on."""
    from boundit.core.codec import encode  # noqa: PLC0415, keeps --help quick

    plain = int | float | str | None
    rows: list[dict[str, object]] = [
        {name: v if isinstance(v, plain) else str(v) for name, v in row.items()}
        for row in table.rows()
    ]
    for row, of in zip(rows, table.bounds.values(), strict=True):
        if of.sampling is not None:
            row["sampling"] = encode(of.sampling)
    return {
        "rows": rows,
        "caveats": table.caveats,
        "profile": table.profile,
        "confidence": table.confidence,
        "goal": table.goal,
        "inference": table.inference,
        "summary": str(table.summary()),
        "confounding_limit": dict(table.confounding_limit),
        "pooling": str(table.pooling).splitlines(),
        **({"models": table.models} if table.models else {}),
    }

"""``boundit bound``: from a graph, a question and a log to intervals with reasons."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from boundit.cli.bound_pictures import draw, ladders_of, write_report
from boundit.cli.logs import levels, log_argument, opened
from boundit.cli.options import graph_argument, json_option, show

if TYPE_CHECKING:
    from boundit.graph.causal_graph import CausalGraph
    from boundit.terms.bound_table import BoundTable


@click.command()
@graph_argument
@click.argument("query")
@log_argument
@click.option(
    "--profile",
    type=click.Choice(["sound", "paper"]),
    default="sound",
    show_default=True,
    help="Everything that holds, or the printed method, which can miss the truth.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The chance that every interval of the table holds.",
)
@click.option("--plug-in", is_flag=True, help="Neglect sampling error instead.")
@click.option(
    "--external", multiple=True, metavar="FILE", help="A log without selection; repeatable."
)
@click.option(
    "--domain",
    multiple=True,
    metavar="NODE=LEVEL,...",
    help="Levels beyond those logged; repeatable.",
)
@click.option(
    "--selection-rate",
    metavar="RATE[,RATE]",
    help="Which share of everyone was logged: a number, or a range such as 0.3,0.6.",
)
@click.option(
    "--sensitivity",
    type=float,
    metavar="G",
    help="No kind of row was logged more than G times as often as the average, or as seldom.",
)
@click.option(
    "--reward-range",
    type=(float, float),
    metavar="LOW HIGH",
    help="What the reward can be; only a 0/1 reward needs none.",
)
@click.option(
    "--max-condition",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="How many variables a rule may condition on.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="For the search for rules; what is found until then holds.",
)
@click.option("--explain", "explained", is_flag=True, help="Explain every interval.")
@click.option("--out", type=click.Path(path_type=Path), help="Save the table as JSON.")
@click.option("--report", type=click.Path(path_type=Path), help="Write a page: out.html.")
@click.option(
    "--sensitivity-plot",
    type=click.Path(path_type=Path),
    help="Draw the bounds against the limit G: png or svg.",
)
@json_option
@click.pass_context
def bound(
    context: click.Context,
    graph: "CausalGraph",
    query: str,
    log: tuple[str, ...],
    profile: str,
    confidence: float,
    external: tuple[str, ...],
    weight: str | None,
    columns: tuple[str, ...],
    bins: tuple[str, ...],
    domain: tuple[str, ...],
    selection_rate: str | None,
    sensitivity: float | None,
    reward_range: tuple[float, float] | None,
    max_condition: int,
    time_limit: float | None,
    out: Path | None,
    report: Path | None,
    sensitivity_plot: Path | None,
    *,
    plug_in: bool,
    explained: bool,
    as_json: bool,
) -> None:
    """Bound what every arm of QUERY would earn in every context, from LOG files.

    \b
    Examples:
      boundit bound graph.txt 'Click | do(Ad), Age' log.csv
      boundit bound graph.dot 'Y | do(X1, X2), U' 'logs/*.parquet' --explain --out bounds.json
      boundit bound graph.txt 'Click | do(Ad)' log.csv --selection-rate 0.3 --report out.html
      boundit bound graph.txt 'Click | do(Ad)' log.csv --sensitivity-plot limits.svg
    """
    from boundit.bounds.derive import derive_bounds  # noqa: PLC0415, keeps --help quick

    given = context.get_parameter_source("confidence")
    if plug_in and given is ParameterSource.COMMANDLINE:
        raise click.UsageError("--plug-in neglects sampling error; leave out --confidence")
    derive = partial(
        derive_bounds,
        graph,
        query,
        opened(log, weight, columns, bins),
        profile=profile,  # type: ignore[arg-type]
        confidence=None if plug_in else confidence,
        external=external,
        selection_rate=_rate(selection_rate),
        reward_range=reward_range,
        domain=levels(domain),
        max_condition=max_condition,
        time_limit=time_limit,
    )
    table = derive(sensitivity=sensitivity)
    if out is not None:
        table.save(out)
    ladders = ladders_of(derive) if sensitivity_plot else ()
    if sensitivity_plot is not None:
        draw(ladders, sensitivity_plot)
    if report is not None:
        write_report(report, table, graph, query, ladders)
    if as_json:
        show(
            {
                "rows": _spelled(table),
                "caveats": table.caveats,
                "profile": table.profile,
                "confidence": table.confidence,
            }
            | ({"explanations": [table.explain(*k) for k in table.bounds]} if explained else {})
        )
    elif explained:
        click.echo("\n\n".join(table.explain(*key) for key in table.bounds))
    else:
        click.echo(str(table))
        for note in table.caveats:
            click.echo(f"caveat: {note}", err=True)


def _spelled(table: "BoundTable") -> list[dict[str, object]]:
    """Write dates and times as text, which is all that JSON has for them."""
    plain = int | float | str | None
    return [
        {name: v if isinstance(v, plain) else str(v) for name, v in row.items()}
        for row in table.rows()
    ]


def _rate(text: str | None) -> float | tuple[float, float] | None:
    """Read a number, or two with a comma between them."""
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise click.BadParameter(f"{text!r} is no rate; write 0.4, or 0.3,0.6 for a range")
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])

"""``boundit bound``: from a graph, a question and a log to intervals with reasons."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.logs import levels, log_argument, opened
from boundit.cli.options import graph_argument, json_option, show

if TYPE_CHECKING:
    from boundit.graph.causal_graph import CausalGraph
    from boundit.terms.bound_table import BoundTable


@click.command()
@graph_argument
@click.argument("query")
@log_argument
@click.option("--profile", type=click.Choice(["sound", "paper"]), default="sound")
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
@click.option("--reward-range", type=(float, float), metavar="LOW HIGH")
@click.option("--max-condition", type=click.IntRange(0), default=3, show_default=True)
@click.option("--time-limit", type=click.FloatRange(0), metavar="SECONDS")
@click.option("--explain", "explained", is_flag=True, help="Explain every interval.")
@click.option("--out", type=click.Path(path_type=Path), help="Save the table as JSON.")
@json_option
def bound(
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
    reward_range: tuple[float, float] | None,
    max_condition: int,
    time_limit: float | None,
    out: Path | None,
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
    """
    from boundit.bounds.derive import derive_bounds  # noqa: PLC0415, keeps --help quick

    table = derive_bounds(
        graph,
        query,
        opened(log, weight, columns, bins),
        profile=profile,  # type: ignore[arg-type]
        confidence=None if plug_in else confidence,
        external=external,
        reward_range=reward_range,
        domain=levels(domain),
        max_condition=max_condition,
        time_limit=time_limit,
    )
    if out is not None:
        table.save(out)
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

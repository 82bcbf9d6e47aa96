"""``boundit plan``: how wide bounds will be, before there is a log."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from boundit.cli.assumptions import (
    confidence_option,
    inference_option,
)
from boundit.cli.logs import node_option
from boundit.cli.numbers import Number
from boundit.cli.options import graph_argument, json_option, seed_option
from boundit.cli.outputs import print_json
from boundit.cli.progress import show_steps

if TYPE_CHECKING:
    from boundit.graph.causal_graph import CausalGraph

LARGEST = 10**15
"""No log has more rows."""


def _read_shares(text: str) -> list[float]:
    """Read a rate, or shares separated by commas. Given to ``node_option`` for --rate."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is no chance and no list of shares") from None


def _read_levels(text: str) -> int:
    """Read how many levels a variable has. Given to ``node_option`` for --levels."""
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r} is no number of levels")
    return int(text)


def _read_sizes(text: str) -> list[int]:
    """Read sizes of a log, as in 10000,1e6. Called by click for --rows."""
    sizes = []
    for part in text.split(","):
        try:
            number = float(part)
        except ValueError:
            raise click.BadParameter(f"{part!r} is no number of rows") from None
        if not (1 <= number <= LARGEST and number == int(number)):
            raise click.BadParameter(f"{part!r} is no number of rows")
        sizes.append(int(number))
    return sizes


@click.command(short_help="Say how wide bounds will be, before there is a log.")
@graph_argument
@click.argument("query")
@node_option(
    "--rate",
    metavar="NODE=RATE",
    read=_read_shares,
    help="The chance of level 1, as in Click=0.004, or shares: Ad=0.7,0.2,0.1; repeatable.",
)
@node_option(
    "--levels",
    metavar="NODE=N",
    read=_read_levels,
    help="How many levels a variable has; two unless told; repeatable.",
)
@click.option(
    "--selection-rate",
    type=Number(0, 1, min_open=True),
    metavar="RATE",
    help="Which share of everyone is logged; one half unless told.",
)
@click.option(
    "--rows",
    type=_read_sizes,
    default="1e4,1e5,1e6,1e7,1e8,1e9",
    show_default=True,
    metavar="N,...",
    help="The sizes of the log that are asked about.",
)
@click.option(
    "--models",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="N",
    help="How many random models with these rates are drawn.",
)
@confidence_option
@inference_option
@click.option(
    "--time-limit",
    type=Number(0),
    metavar="SECONDS",
    help="For everything; a note says which sizes were not reached.",
)
@seed_option
@json_option
def plan(
    graph: "CausalGraph",
    query: str,
    rate: Mapping[str, Sequence[float]],
    levels: Mapping[str, int],
    selection_rate: float | None,
    rows: list[int],
    models: int,
    confidence: float,
    inference: str,
    time_limit: float | None,
    seed: int,
    *,
    as_json: bool,
) -> None:
    """Say how wide the bounds of QUERY will be at several sizes of a log, by rough rates.

    Random models of GRAPH with these rates are drawn, and bounded on the counts that a log of
    so many rows has on average. Where intervals are many times the rate of the reward, that is
    said before anything is logged.

    \b
    Examples:
      boundit plan graph.txt 'Click | do(Ad), Age' --rate Click=0.004 --levels Age=4
      boundit plan graph.txt 'Y | do(X)' --rate X=0.7,0.2,0.1 --selection-rate 0.3 --rows 1e6
    """
    from boundit.decisions.suggest.expect_widths import expect_widths  # noqa: PLC0415

    with show_steps() as tell:
        found = expect_widths(
            graph,
            query,
            rates=rate,
            levels=levels,
            selection_rate=selection_rate,
            rows=rows,
            models=models,
            confidence=confidence,
            inference=inference,  # type: ignore[arg-type]
            seed=seed,
            time_limit=time_limit,
            told=tell,
        )
    print_json(found.record()) if as_json else click.echo(str(found))

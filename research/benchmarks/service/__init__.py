"""The service under load, and what it holds in a year: ``python -m research.benchmarks service``.

``--seconds`` and ``--rounds`` say how long each kind of request is sent and how often (2 and 1:
five minutes for both stores). Instead of that, ``--memory`` plays a simulated year of
``--decisions``, ``--isolation`` measures how long one policy waits for others, ``--cost`` what a
request costs the processor beside 0.2.0, and ``--trace`` lists the functions that it passes.
"""

from collections.abc import Sequence

import click
from research.benchmarks.service.compare import compare_all
from research.benchmarks.service.cost import compare_costs, show_traces
from research.benchmarks.service.isolation import measure_isolation
from research.benchmarks.service.memory import DECISIONS, measure_year


@click.command()
@click.option("--seconds", default=2, show_default=True, help="How long each load lasts.")
@click.option("--rounds", default=1, show_default=True, help="How often; the best counts.")
@click.option("--singles", is_flag=True, help="No batches.")
@click.option("--memory", is_flag=True, help="Play a year with retention instead.")
@click.option("--cost", is_flag=True, help="Processor time of a request instead.")
@click.option("--trace", is_flag=True, help="The functions that a request passes instead.")
@click.option("--isolation", is_flag=True, help="Delays by other policies instead.")
@click.option("--decisions", default=DECISIONS, show_default=True, help="Of that year.")
def measure(
    *,
    seconds: int,
    rounds: int,
    memory: bool,
    decisions: int,
    cost: bool,
    trace: bool,
    isolation: bool,
    singles: bool,
) -> None:
    if memory:
        measure_year(decisions)
    elif cost:
        compare_costs(n=2000, rounds=rounds)
    elif isolation:
        measure_isolation()
    elif trace:
        show_traces("TS")
    else:
        compare_all(seconds, rounds, singles=singles)


def run(options: Sequence[str] = ()) -> None:
    """Print the tables that the options ask for."""
    measure.main(
        list(options), prog_name="python -m research.benchmarks service", standalone_mode=False
    )

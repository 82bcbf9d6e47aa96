"""The service under load, and what it holds in a year: ``python -m research.benchmarks service``.

``--seconds`` and ``--rounds`` say how long each kind of request is sent and how often (2 and 1:
five minutes for both stores); ``--memory`` plays a simulated year of ``--decisions`` instead.
"""

from collections.abc import Sequence

import click
from research.benchmarks.service.compare import compare_all
from research.benchmarks.service.memory import DECISIONS, measure_year


@click.command()
@click.option("--seconds", default=2, show_default=True, help="How long each load lasts.")
@click.option("--rounds", default=1, show_default=True, help="How often; the best counts.")
@click.option("--memory", is_flag=True, help="Play a year with retention instead.")
@click.option("--decisions", default=DECISIONS, show_default=True, help="Of that year.")
def measure(*, seconds: int, rounds: int, memory: bool, decisions: int) -> None:
    if memory:
        measure_year(decisions)
    else:
        compare_all(seconds, rounds)


def run(options: Sequence[str] = ()) -> None:
    """Print the tables that the options ask for."""
    measure.main(
        list(options), prog_name="python -m research.benchmarks service", standalone_mode=False
    )

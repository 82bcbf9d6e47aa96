"""``boundit audit``: whether the bounds hold on models whose truth is known."""

import sys
from typing import TYPE_CHECKING

import click

from boundit.cli.options import json_option, show

if TYPE_CHECKING:
    from boundit.studies.audit import AuditReport


@click.command()
@click.option("--models", default=10_000, show_default=True, help="How many random models.")
@click.option("--seed", default=0, show_default=True)
@json_option
@click.pass_context
def audit(context: click.Context, models: int, seed: int, *, as_json: bool) -> None:
    """Bound the effects of random models from exact laws and count what misses.

    Exits 1 when an interval of profile 'sound' misses the truth. Ctrl-C keeps what is done.
    """
    from boundit.studies.audit import audit as run  # noqa: PLC0415, keeps --help quick

    with click.progressbar(
        length=models, label="models", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as bar:
        report = run(models, seed=seed, told=lambda _: bar.update(1))
    if as_json:
        show(_record(report))
    else:
        _print(report)
    context.exit(0 if report else 1)


def _record(report: "AuditReport") -> dict[str, object]:
    return {
        "models": report.models,
        "seed": report.seed,
        "profiles": {
            name: {
                "intervals": tally.rows,
                "missed_intervals": tally.missed_rows,
                "missed_models": tally.missed_models,
                "mean_width": tally.mean_width,
                "share_useful": tally.share_useful,
                "points": tally.points,
            }
            for name, tally in report.tallies.items()
        },
        "misses": [
            {"profile": m.profile, "graph": m.graph, "query": m.query, "row": m.row}
            for m in report.misses
        ],
    }


def _print(report: "AuditReport") -> None:
    click.echo(f"{report.models:,} random models, seed {report.seed}, exact laws")
    click.echo(f"{'profile':<9}{'intervals':>10}{'misses':>8}{'in models':>11}"
               f"{'mean width':>12}{'useful':>8}{'points':>8}")  # fmt: skip
    for name, tally in report.tallies.items():
        share = tally.points / tally.rows if tally.rows else 0.0
        click.echo(
            f"{name:<9}{tally.rows:>10,}{tally.missed_rows:>8,}{tally.missed_models:>11,}"
            f"{tally.mean_width:>12.3f}{tally.share_useful:>8.1%}{share:>8.1%}"
        )
    for miss in [m for m in report.misses if m.profile == "sound"][:10]:
        click.echo(f"missed: {miss.query} on {miss.graph}; {miss.row}")

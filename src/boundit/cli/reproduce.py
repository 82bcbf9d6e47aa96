"""``boundit reproduce``: the paper's offline half, recomputed."""

from typing import TYPE_CHECKING

import click

from boundit.cli.options import json_option, show

if TYPE_CHECKING:
    from boundit.studies.offline_bounds import OfflineRow


@click.command()
@click.option(
    "--points",
    type=click.IntRange(500, 10_000_000),
    default=30_000,
    show_default=True,
    help="How many points to draw.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@json_option
def reproduce(points: int, seed: int, *, as_json: bool) -> None:
    """Recompute the paper's worked example and its offline table.

    For the online half see boundit simulate.
    """
    from boundit.studies.offline_bounds import offline_bounds  # noqa: PLC0415
    from boundit.studies.worked_example import worked_example  # noqa: PLC0415

    claims, study = worked_example(), offline_bounds(points=points, seed=seed)
    if as_json:
        show(
            {
                "claims": [
                    {"place": c.place, "printed": c.printed, "found": c.found, "holds": c.holds}
                    for c in claims
                ],
                "rows": [_record(row) for row in study.rows],
                "points": study.points,
                "kept": study.kept,
                "seed": study.seed,
            }
        )
        return
    click.echo("The worked example on Figure 2, C1 hidden")
    for claim in claims:
        click.echo(f"  {claim.place}: {'holds' if claim.holds else 'does not hold'}")
        click.echo(f"    printed  {claim.printed}")
        click.echo(f"    found    {claim.found}")
    click.echo(
        f"\nThe offline table: {study.points:,} points drawn, {study.kept:,} kept, "
        f"seed {seed}. E[Y | do(x1, x2), u1, u2]"
    )
    click.echo(f"{'arm':<8}{'context':<9}{'truth':>7}  {'bounds, exact law':<19}"
               f"{'bounds, drawn log':<19}{'CP':>6}{'Biased':>8}   printed bounds")  # fmt: skip
    for row in study.rows:
        mark = "  misses the truth" if row.printed_misses else ""
        click.echo(
            f"{row.arm!s:<8}{row.context!s:<9}{row.truth:>7.3f}  {_shown(row.exact):<19}"
            f"{_shown(row.ours):<19}{row.cp:>6.3f}{row.biased:>8.3f}   "
            f"[{row.printed.lower:.3f}, {row.printed.upper:.3f}]{mark}"
        )
    missed = sum(row.truth not in row.ours for row in study.rows)
    printed = sum(row.printed_misses for row in study.rows)
    click.echo(
        f"\nof {len(study.rows)} rows our bounds miss {missed}, the printed ones {printed}"
    )


def _shown(interval: object) -> str:
    return f"[{interval.lower:.3f}, {interval.upper:.3f}]"  # type: ignore[attr-defined]


def _record(row: "OfflineRow") -> dict[str, object]:
    return {
        "arm": row.arm,
        "context": row.context,
        "truth": row.truth,
        "exact": [row.exact.lower, row.exact.upper],
        "drawn": [row.ours.lower, row.ours.upper],
        "cp": row.cp,
        "biased": row.biased,
        "printed": row.printed._asdict(),
        "printed_misses": row.printed_misses,
    }

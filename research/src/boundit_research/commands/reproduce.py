"""``boundit reproduce``: the paper end to end, and one page that shows it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.options import flags
from boundit.cli.outputs import notify_written, print_json, show_steps

if TYPE_CHECKING:
    from boundit_research.paper.reproduction import Reproduction


@click.command(short_help="Recompute the paper and leave one page that shows it.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="The folder for the page and its figures.",
)
@click.option(
    "--runs",
    type=click.IntRange(2),
    metavar="N",
    default=100,
    show_default=True,
    help="How often every policy plays; OAM plays at most 20.",
)
@click.option(
    "--rounds",
    type=click.IntRange(2),
    metavar="N",
    default=15_000,
    show_default=True,
    help="How long a run is.",
)
@click.option("--quick", is_flag=True, help="A third of the runs.")
@click.option(
    "--points",
    type=click.IntRange(500, 10_000_000),
    metavar="N",
    default=30_000,
    show_default=True,
    help="How many points to draw.",
)
@flags("seed")
@flags("json")
def reproduce(
    out: Path, runs: int, rounds: int, points: int, seed: int, *, quick: bool, as_json: bool
) -> None:
    """Recompute the paper: its example, its offline table, its online study, its claims.

    Leaves report.html, which needs nothing else, and every figure as PNG and SVG. The same seed
    gives the same numbers. Needs the extra plot: pip install 'boundit[plot]'.

    \b
    Examples:
      boundit reproduce
      boundit reproduce --quick --out /tmp/paper
      boundit reproduce --runs 1000 --seed 7
    """
    from boundit.report.plot import require_matplotlib  # noqa: PLC0415, keeps --help quick
    from boundit_research.paper.reproduction import reproduce_paper  # noqa: PLC0415
    from boundit_research.paper.reproduction_page import write_reproduction  # noqa: PLC0415

    require_matplotlib()
    with show_steps("runs") as tell:
        found = reproduce_paper(
            points=points,
            runs=runs,
            rounds=rounds,
            seed=seed,
            quick=quick,
            progress=lambda done, of: tell("runs", done, of),
        )
    size = f"--runs {runs} --rounds {rounds} --points {points} --seed {seed}"
    command = f"boundit reproduce {size}"
    written = write_reproduction(found, out, command=command + " --quick" * quick)
    notify_written(written)
    if as_json:
        print_json(_make_reproduction_record(found) | {"report": str(written)})
    else:
        _print_reproduction(found)


def _print_reproduction(found: "Reproduction") -> None:
    """Print the recomputed paper: offline table, arms ruled out, regrets and claims."""
    study = found.offline
    click.echo(
        f"The offline table: {study.points:,} points drawn, {study.kept:,} kept, "
        f"seed {found.seed}. E[Y | do(x1, x2), u1, u2]"
    )
    click.echo(f"{'arm':<8}{'context':<9}{'truth':>6}  {'exact law':<16}{'plug-in':<16}"
               f"{'conf. 0.95':<16}{'CP':>5}{'Biased':>8}  printed")  # fmt: skip
    for row in study.rows:
        mark = " misses" if row.printed_misses else ""
        exact, plug_in, ours, printed = map(
            _format_interval, (row.exact, row.plug_in, row.ours, row.printed)
        )
        click.echo(
            f"{row.arm!s:<8}{row.context!s:<9}{row.truth:>6.3f}  {exact:<16}{plug_in:<16}"
            f"{ours:<16}{row.cp:>5.3f}{row.biased:>8.3f}  {printed}{mark}"
        )
    click.echo("\nArms ruled out, of all pairs of arm and context")
    for gone in found.pruned:
        click.echo(f"  {gone.pairs} of {gone.of}: {gone.by}")
    for played in (found.online.paper, found.online.flip):
        click.echo(f"\n{played}")
    click.echo("\nWhat the paper claims")
    for claim in found.claims:
        click.echo(f"  {claim.judgement}: {claim.place}: {claim.said}")
        click.echo(f"    {claim.shown}")


def _format_interval(ends: object) -> str:
    """Write both ends of an interval of the offline table to three digits."""
    return f"[{ends.lower:.3f}, {ends.upper:.3f}]"  # type: ignore[attr-defined]


def _make_reproduction_record(found: "Reproduction") -> dict[str, object]:
    """Write the recomputed paper as an object for JSON."""
    study = found.offline
    return {
        "points": study.points,
        "kept": study.kept,
        "seed": found.seed,
        "rows": [
            {
                "arm": row.arm,
                "context": row.context,
                "truth": row.truth,
                "cp": row.cp,
                "biased": row.biased,
                "printed": row.printed._asdict(),
                "printed_misses": row.printed_misses,
            }
            | {
                name: [interval.lower, interval.upper]
                for name, interval in (
                    ("exact", row.exact),
                    ("plug_in", row.plug_in),
                    ("confident", row.ours),
                )
            }
            for row in study.rows
        ],
        "ruled_out": [{"by": p.by, "pairs": p.pairs, "of": p.of} for p in found.pruned],
        "online": {"paper": found.online.paper.record(), "flipped": found.online.flip.record()},
        "claims": [
            {"place": c.place, "said": c.said, "judgement": c.judgement, "shown": c.shown}
            for c in found.claims
        ],
    }

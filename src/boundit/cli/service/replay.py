"""``boundit replay``: prove that the states of policies are what their events say."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.options import flags
from boundit.cli.outputs import print_json
from boundit.cli.service.stores import open_store, store_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boundit.service.reader.replay import ReplayReport


@click.command(short_help="Prove that the states of policies are what their events say.")
@click.argument("policy", required=False)
@store_options
@click.option("--decisions", is_flag=True, help="Make every decision again, too.")
@flags("json")
@click.pass_context
def replay(
    context: click.Context,
    *,
    policy: str | None,
    data: Path | None,
    store: str | None,
    decisions: bool,
    as_json: bool,
) -> None:
    """Fold the events of POLICY again, or of all policies, and compare with what was kept.

    States must be equal bit for bit. Exits with 1 if anything differs, and with 2 where there
    is no store.
    """
    opened = open_store(data, store)
    from msgspec import to_builtins  # noqa: PLC0415, an extra

    from boundit.service.reader.replay import describe_replay, replay_policy  # noqa: PLC0415

    if policy is None:
        with opened.read() as transaction:
            names = [head.name for head in transaction.list_heads()]
    else:
        names = [policy]
    found = [replay_policy(opened, name, decisions=decisions) for name in names]
    opened.close()
    if as_json:
        print_json(to_builtins(found))
    else:
        for report in found:
            click.echo(describe_replay(report))
        click.echo(_sum_up(found))
    context.exit(int(not all(report.agrees for report in found)))


def _sum_up(found: "Sequence[ReplayReport]") -> str:
    """Say how many policies were replayed, as none is no proof, and whether any differs."""
    if not found:
        return "there is no policy, so nothing was replayed"
    differing = [report.policy for report in found if not report.agrees]
    counted = f"{len(found):,} {'policy' if len(found) == 1 else 'policies'} replayed"
    verdict = f"DIFFERS: {', '.join(differing)}" if differing else "nothing differs"
    return f"{counted}\n{verdict}"

"""``boundit policies``: create, show, change, export and delete the policies of a service."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boundit.cli.options import flags
from boundit.cli.outputs import OutputFile, notify_written, print_json
from boundit.cli.service.stores import (
    open_store,
    read_duration,
    read_fields,
    read_times,
    read_value,
    run_engine,
    set_option,
    store_option,
    write_duration,
)
from boundit.core.errors import UnreadableFile
from boundit.core.files import write_pieces

if TYPE_CHECKING:
    from boundit.service.verify import ReplayReport

_FILE = click.Path(dir_okay=False, exists=True, path_type=Path)
_CREATED = (
    "arms", "context", "reward_range", "options", "explore", "monitor", "reward_aggregation",
    "learn", "shadow", "retention", "unknown_levels",
)  # fmt: skip
_UPDATED = ("window", "retention", "explore", "monitor")
_TIMES = {"window": 1.0, "retention": 86_400.0}


@click.group(short_help="Create, show, change and delete the policies of a service.")
def policies() -> None:
    """Create, show, change and delete the policies of a service.

    These commands write to the store itself, also while servers use it, which see a change
    within a second.
    """


@policies.command(short_help="Create a policy.")
@click.argument("name")
@store_option
@click.option(
    "--bounds", type=_FILE, metavar="FILE", help="Bounds that 'boundit bound --out' wrote."
)
@click.option(
    "--kind",
    type=click.Choice(["Fused", "LinUCB", "UCB", "TS", "LinTS", "OAM"]),
    default="Fused",
    show_default=True,
    help="The algorithm.",
)
@click.option(
    "--window",
    metavar="TIME",
    help="Learn a decision so long after it was made (90, 30m, 12h, 7d), not immediately.",
)
@click.option(
    "--default-reward",
    type=float,
    help="The reward of a decision whose window closed without one.",
)
@click.option(
    "--goal",
    type=click.Choice(["max", "min"]),
    help="Whether high or low rewards are better; that of the bounds unless given.",
)
@click.option("--seed", type=int, help="The seed of all draws; drawn and kept unless given.")
@set_option(", ".join(_CREATED))
@flags("json")
def create(
    *, name: str, store: str, bounds: Path | None, window: str | None, as_json: bool,
    fields: Sequence[str], **given: Any,
) -> None:  # fmt: skip
    """Create the policy NAME. The same once more changes nothing.

    \b
    Example:
      boundit policies create ads --store shop --bounds bounds.json \
        --window 1d --default-reward 0 --set explore=0.02
    """
    config = read_times(read_fields(fields, _CREATED), _TIMES)
    config |= {key: value for key, value in given.items() if value is not None}
    if window is not None:
        config["window"] = read_duration(window)
    if bounds is not None:
        config["bounds"] = _read_json(bounds)
    for key, read in (("arms", read_value), ("context", str)):
        if isinstance(config.get(key), str):
            config[key] = [read(part.strip()) for part in config[key].split(",")]
    open_store(store, new=True).close()
    from boundit.service.commands import CreatePolicy, convert_request  # noqa: PLC0415
    from boundit.service.config import PolicyConfig  # noqa: PLC0415, an extra

    made = convert_request(PolicyConfig, {"name": name, **config})
    with run_engine(store, new=True) as engine:
        _print_policy(engine.run(CreatePolicy(made)), as_json=as_json)


@policies.command(short_help="Show a policy, or all of them.")
@click.argument("name", required=False)
@store_option
@click.option(
    "--verify",
    type=click.Choice(["state", "decisions"]),
    help="Replay all events, and compare the states; with 'decisions' make every decision again.",
)
@flags("json")
@click.pass_context
def show(
    context: click.Context, *, name: str | None, store: str, verify: str | None, as_json: bool
) -> None:
    """Show the policy NAME as it is now, or all policies. The store may be read-only.

    With --verify states must be equal bit for bit. Exits with 1 if anything differs.
    """
    opened = open_store(store, read_only=True)
    from msgspec import to_builtins  # noqa: PLC0415, an extra

    from boundit.service.show import read_policies  # noqa: PLC0415, an extra
    from boundit.service.verify import describe_replay, replay_policy  # noqa: PLC0415

    found = read_policies(opened, name)
    reports = []
    if verify:
        reports = [
            replay_policy(opened, one.name, decisions=verify == "decisions") for one in found
        ]
    opened.close()
    if as_json:
        answer: Any = to_builtins(reports if verify else found)
        print_json(answer if name is None else answer[0])
    elif verify:
        for report in reports:
            click.echo(describe_replay(report))
        click.echo(_sum_up(reports))
    else:
        if not found:
            click.echo("No policy yet: boundit policies create makes one")
        for one in found:
            _print_policy(one, as_json=False)
    context.exit(int(not all(report.agrees for report in reports)))


def _sum_up(found: "Sequence[ReplayReport]") -> str:
    """Say how many policies were verified, as none proves nothing, and whether any differs."""
    if not found:
        return "No policy, so nothing was verified"
    differing = [report.policy for report in found if not report.agrees]
    counted = f"{len(found):,} {'policy' if len(found) == 1 else 'policies'} verified"
    verdict = f"DIFFERS: {', '.join(differing)}" if differing else "nothing differs"
    return f"{counted}\n{verdict}"


@policies.command(short_help="Replace the bounds of a policy.")
@click.argument("name")
@click.argument("bounds", type=_FILE)
@store_option
def refresh(*, name: str, bounds: Path, store: str) -> None:
    """Replace the bounds of the policy NAME by those of the file BOUNDS.

    All servers switch at the same position of its events; what was learned stays.
    """
    with run_engine(store) as engine:
        from boundit.service.commands import RefreshBounds, RefreshRequest  # noqa: PLC0415

        answer = engine.run(RefreshBounds(name, RefreshRequest(_read_json(bounds))))
    click.echo(f"bounds version {answer.bounds_version} from position {answer.position:,} on")


@policies.command(short_help="Change the window, retention, exploration or monitoring.")
@click.argument("name")
@store_option
@set_option(", ".join(_UPDATED))
@flags("json")
def update(*, name: str, store: str, fields: Sequence[str], as_json: bool) -> None:
    """Change fields of the policy NAME; decisions from now on go by them.

    \b
    Example:
      boundit policies update ads --store shop --set window=7d --set monitor=null
    """
    changes = read_times(read_fields(fields, _UPDATED), _TIMES)
    with run_engine(store) as engine:
        from boundit.service.commands import (  # noqa: PLC0415, an extra
            UpdatePolicy,
            UpdateRequest,
            convert_request,
        )

        request = convert_request(UpdateRequest, changes)
        _print_policy(engine.run(UpdatePolicy(name, request)), as_json=as_json)


@policies.command(short_help="Delete a policy and all its events.")
@click.argument("name")
@store_option
def delete(*, name: str, store: str) -> None:
    """Delete the policy NAME with all its events, for good. Export its log before."""
    with run_engine(store) as engine:
        engine.delete(name)
    click.echo(f"deleted {name}")


@policies.command(short_help="Erase what happened before a day, or one decision.")
@click.argument("name")
@store_option
@click.option(
    "--before",
    type=click.DateTime(),
    help="Erase events before this moment, in UTC, such as 2026-01-31.",
)
@click.option("--id", "id_", metavar="ID", help="Erase this decision, also if it is open.")
def prune(*, name: str, store: str, before: datetime | None, id_: str | None) -> None:
    """Erase decisions of the policy NAME with their rewards; what it learned stays.

    With --before, decisions whose window is open stay. An erased id is answered with 410.
    """
    if (before is None) == (id_ is None):
        raise click.UsageError("Give --before MOMENT or --id ID.")
    with run_engine(store) as engine:
        if id_ is not None:
            answer = engine.erase(name, id_)
        else:
            assert before is not None
            answer = engine.prune(name, before.replace(tzinfo=UTC))
    click.echo(f"decisions erased: {answer.decisions:,}, events: {answer.events:,}")


@policies.command(short_help="Export the closed decisions as a log.")
@click.argument("name")
@store_option
@click.option(
    "--out",
    type=OutputFile(".csv", ".jsonl", ".parquet", ".dsjson", ".obp"),
    required=True,
    metavar="FILE",
    help="Where to; its ending says as what.",
)
@click.option(
    "--after", type=click.IntRange(0), default=0, metavar="POSITION",
    help="Only decisions that were closed after this position.",
)  # fmt: skip
def export(*, name: str, store: str, out: Path, after: int) -> None:
    """Write the closed decisions of the policy NAME to a file. The store may be read-only.

    A .csv, .jsonl or .parquet file is a log that 'boundit bound' reads, marked as adaptive: a
    policy learned while it wrote. .dsjson has the lines of Vowpal Wabbit, .obp JSON lines by
    the names of obp's feedback.
    """
    opened = open_store(store, read_only=True)
    from boundit.service.export import export_log  # noqa: PLC0415, an extra

    form = out.suffix.lower().removeprefix(".")
    write_pieces(out, export_log(opened, name, form, after=after))
    opened.close()
    notify_written(out)


def _read_json(path: Path) -> dict[str, Any]:
    """Read a file of bounds as JSON."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, f"it is not JSON ({error})") from None
    return found


def _print_policy(policy: Any, *, as_json: bool) -> None:
    """Print a policy as it is now."""
    if as_json:
        from msgspec import to_builtins  # noqa: PLC0415, an extra

        print_json(to_builtins(policy))
        return
    counts = f"{policy.learned_decisions:,} decisions; {policy.open_decisions:,} are open"
    in_force = f"version {policy.bounds_version}, {policy.refuted or 'in force'}"
    rows: list[tuple[str, str]] = [
        ("policy", f"{policy.name} ({policy.kind})"),
        ("arms", ", ".join(_write_arm(arm) for arm in policy.arms)),
        ("learns", _describe_learning(policy)),
        ("learned", counts),
        ("bounds", "none" if policy.outcome is None else in_force),
        ("events", f"{policy.position:,}"),
    ]
    if policy.retention is not None:
        rows.append(("kept", f"{policy.retention:g} days"))
    for name, text in rows:
        click.echo(f"{name:8} {text}")
    for warning in policy.warnings:
        click.echo(f"note: {warning}", err=True)


def _write_arm(arm: object) -> str:
    values = arm.values() if isinstance(arm, dict) else arm if isinstance(arm, list) else [arm]
    return "/".join(map(str, values))


def _describe_learning(policy: Any) -> str:
    """Say when a decision is learned."""
    if policy.learn == "immediately":
        return "when a reward comes"
    default = policy.default_reward
    without = "expires" if default is None else f"counts as {default:g}"
    return f"after {write_duration(policy.window)}; without a reward it {without}"

"""``boundit policies``: create, show and refresh the policies of a service."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from boundit.cli.options import Number, flags
from boundit.cli.outputs import OutputFile, notify_written, print_json
from boundit.cli.service.durations import Duration, write_duration
from boundit.cli.service.stores import (
    new_store_options,
    open_store,
    run_engine,
    store_options,
)
from boundit.core.errors import UnreadableFile
from boundit.core.files import write_pieces

_FILE = click.Path(dir_okay=False, exists=True, path_type=Path)


@click.group(short_help="Create, show and refresh the policies of a service.")
def policies() -> None:
    """Create, show and refresh the policies of a service.

    These commands write to the store itself, also while servers use it, which see a change
    within a second.
    """


@policies.command(short_help="Create a policy.")
@click.argument("name")
@new_store_options
@click.option(
    "--bounds", type=_FILE, metavar="FILE", help="Bounds that 'boundit bound --out' wrote."
)
@click.option(
    "--kind",
    type=click.Choice(["Fused", "LinUCB", "UCB", "TS", "LinTS", "OAM"]),
    default="Fused",
    show_default=True,
    help="Which policy.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the policy, such as doubt=0.08; again for more.",
)
@click.option("--arms", metavar="A,B,...", help="The arms, where bounds do not say them.")
@click.option("--context", metavar="AGE,...", help="Names of the context, where bounds do not.")
@click.option(
    "--reward-range", nargs=2, type=float, help="The range of rewards, without bounds."
)
@click.option("--seed", type=int, help="The seed of all draws; drawn and kept unless given.")
@click.option(
    "--explore",
    type=Number(0, 1),
    default=0.0,
    metavar="SHARE",
    help="The share of decisions that are drawn uniformly from all arms.",
)
@click.option(
    "--window",
    type=Duration(),
    metavar="TIME",
    help="Learn a decision so long after it was made (90, 30m, 12h, 7d), not at once.",
)
@click.option(
    "--default-reward",
    type=float,
    help="What a decision earned whose window closed without a reward.",
)
@click.option(
    "--rewards",
    type=click.Choice(["first", "last", "sum"]),
    default="first",
    show_default=True,
    help="Which of several rewards of one decision count.",
)
@click.option("--shadow", is_flag=True, help="The caller acts by its own rule and reports it.")
@click.option(
    "--retention",
    type=Duration(),
    metavar="TIME",
    help="Erase a decision so long after it is over (12h, 90d); what it taught stays.",
)
@click.option(
    "--unseen",
    type=click.Choice(["error", "range"]),
    default="error",
    show_default=True,
    help="What a level gets that the bounds do not have.",
)
@flags("json")
def create(
    *, name: str, data: Path | None, store: str | None, as_json: bool, **given: Any
) -> None:
    """Create the policy NAME. The same once more changes nothing.

    \b
    Example:
      boundit policies create ads --data shop --bounds bounds.json \
        --window 1d --default-reward 0
    """
    opened = open_store(data, store, new=True)
    opened.close()
    from boundit.service.commands import CreatePolicy, convert_request  # noqa: PLC0415
    from boundit.service.config import PolicyConfig  # noqa: PLC0415, an extra

    config = convert_request(PolicyConfig, {"name": name, **_read_config(given)})
    with run_engine(data, store, new=True) as engine:
        _print_policy(engine.run(CreatePolicy(config)), as_json=as_json)


@policies.command(short_help="Show a policy, or all of them.")
@click.argument("name", required=False)
@store_options
@flags("json")
def show(*, name: str | None, data: Path | None, store: str | None, as_json: bool) -> None:
    """Show the policy NAME as it is now, or all policies."""
    with run_engine(data, store) as engine:
        found = engine.list_policies() if name is None else [engine.show_policy(name)]
    if as_json and name is None:
        from msgspec import to_builtins  # noqa: PLC0415, an extra

        print_json(to_builtins(found))
        return
    if not found:
        click.echo("there is no policy yet; boundit policies create makes one")
    for one in found:
        _print_policy(one, as_json=as_json)


@policies.command(short_help="Replace the bounds of a policy.")
@click.argument("name")
@click.argument("bounds", type=_FILE)
@store_options
def refresh(*, name: str, bounds: Path, data: Path | None, store: str | None) -> None:
    """Replace the bounds of the policy NAME by those of the file BOUNDS.

    All servers switch at the same position of its events; what was learned stays.
    """
    with run_engine(data, store) as engine:
        from boundit.service.commands import RefreshBounds, RefreshRequest  # noqa: PLC0415

        request = RefreshRequest(_read_json(bounds))
        answer = engine.run(RefreshBounds(name, request))
    click.echo(f"bounds version {answer.bounds_version} from position {answer.position:,} on")


@policies.command(short_help="Erase what happened before a day.")
@click.argument("name")
@store_options
@click.option(
    "--before",
    type=click.DateTime(),
    required=True,
    help="Erase events before this moment, in UTC, such as 2026-01-31.",
)
def prune(*, name: str, data: Path | None, store: str | None, before: datetime) -> None:
    """Erase what the policy NAME decided and was told before a day; what it learned stays.

    Decisions whose window is open stay, too. An erased id is answered with 410.
    """
    with run_engine(data, store) as engine:
        answer = engine.prune(name, before.replace(tzinfo=UTC))
    click.echo(f"erased {answer.decisions:,} decisions in {answer.events:,} events")


@policies.command(short_help="Write the closed decisions as a log.")
@click.argument("name")
@store_options
@click.option(
    "--out",
    type=OutputFile(".csv", ".jsonl", ".parquet", ".dsjson", ".obp"),
    required=True,
    metavar="FILE",
    help="Where to; its ending says as what.",
)
def export(*, name: str, data: Path | None, store: str | None, out: Path) -> None:
    """Write the closed decisions of the policy NAME to a file.

    A .csv, .jsonl or .parquet file is a log that 'boundit bound' reads; it knows that a policy
    learned while it wrote. So does 'boundit check', which then asks for a log from before:
    independence cannot be tested in one whose rows hang on each other. .dsjson has the lines of
    Vowpal Wabbit, .obp JSON lines by the names of obp's feedback.
    """
    opened = open_store(data, store)
    from boundit.service.reader.export import export_log  # noqa: PLC0415, an extra

    write_pieces(out, export_log(opened, name, out.suffix.lower().removeprefix(".")))
    opened.close()
    notify_written(out)


def _read_config(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the options of ``create`` as the configuration of a policy."""
    found = {key: value for key, value in given.items() if value not in (None, ())}
    found["options"] = dict(_read_option(text) for text in given["options"])
    if given["bounds"] is not None:
        found["bounds"] = _read_json(given["bounds"])
    if given["retention"] is not None:
        found["retention"] = given["retention"] / 86_400
    for key in ("arms", "context"):
        if given[key] is not None:
            parts = [part.strip() for part in given[key].split(",") if given[key]]
            found[key] = [_read_value(part) for part in parts] if key == "arms" else parts
    return found


def _read_option(text: str) -> tuple[str, object]:
    """Read NAME=VALUE; the value is JSON if it can be, else text. Called for --option."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--option {text!r} must be NAME=VALUE, such as doubt=0.08")
    return name, _read_value(value)


def _read_value(text: str) -> object:
    """Read a value as JSON if it can be, else as text; called for options and arms."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _read_json(path: Path) -> dict[str, Any]:
    """Read a file of bounds as JSON; called by ``_read_config`` and ``refresh``."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, f"it is no JSON ({error})") from None
    return found


def _print_policy(policy: Any, *, as_json: bool) -> None:
    """Print a policy as it is now; called by ``create`` and ``show``."""
    if as_json:
        from msgspec import to_builtins  # noqa: PLC0415, an extra

        print_json(to_builtins(policy))
        return
    rows: Sequence[tuple[str, str]] = [
        ("policy", f"{policy.name} ({policy.kind})"),
        ("arms", ", ".join(_write_arm(arm) for arm in policy.arms)),
        ("learns", _describe_learning(policy)),
        ("learned", f"{policy.n_learned:,} decisions; {policy.n_open:,} are open"),
        ("bounds", _describe_bounds(policy)),
        ("events", f"{policy.position:,}"),
    ]
    if policy.retention is not None:
        rows = [*rows, ("kept", f"{policy.retention:g} days")]
    for name, text in rows:
        click.echo(f"{name:8} {text}")
    for warning in policy.warnings:
        click.echo(f"caveat: {warning}", err=True)


def _describe_bounds(policy: Any) -> str:
    """Say which bounds a policy goes by, if any; called by ``_print_policy``."""
    if policy.outcome is None:
        return "none"
    return f"version {policy.bounds_version}, {policy.refuted or 'in force'}"


def _write_arm(arm: object) -> str:
    """Write an arm in words; called by ``_print_policy``."""
    values = arm.values() if isinstance(arm, dict) else arm if isinstance(arm, list) else [arm]
    return "/".join(map(str, values))


def _describe_learning(policy: Any) -> str:
    """Say when a decision is learned; called by ``_print_policy``."""
    if policy.learn == "at_once":
        return "when a reward comes"
    default = policy.default_reward
    without = "is not learned" if default is None else f"counts as {default:g}"
    return f"after {write_duration(policy.window)}; without a reward it {without}"

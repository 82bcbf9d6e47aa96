"""``boundit keys``: who may ask a service, and for what."""

import click

from boundit.cli.options import flags
from boundit.cli.outputs import notify, print_json
from boundit.cli.service.stores import open_store, store_option


@click.group(short_help="Add, list and revoke the keys of a service.")
def keys() -> None:
    """Add, list and revoke the keys of a service.

    Servers that run see a change within two seconds. Without any key, a server
    listens on this machine alone and asks for none.
    """


@keys.command(short_help="Make a key, and print it this once.")
@click.argument("name")
@store_option
@click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice(["decide", "reward", "read", "admin"]),
    help="What the key may do; again for more. admin may do everything.",
)
@flags("json")
def add(*, name: str, store: str, roles: tuple[str, ...], as_json: bool) -> None:
    """Make a key for the caller NAME, and print it. It is shown this once.

    To rotate a key, add a second one, move the caller over, then revoke the first.
    """
    opened = open_store(store, new=True)
    from boundit.service.keys import add_key  # noqa: PLC0415, an extra

    made = add_key(opened, name, roles)
    opened.close()
    if as_json:
        print_json({"id": made.key.id, "name": name, "roles": roles, "secret": made.secret})
        return
    click.echo(made.secret)
    notify("note", f"key {made.key.id} of {name}; only its hash is kept, so write it down now")


@keys.command("list", short_help="List the keys, without their secrets.")
@store_option
@flags("json")
def list_(*, store: str, as_json: bool) -> None:
    """List all keys, those revoked too."""
    opened = open_store(store)
    from msgspec import to_builtins  # noqa: PLC0415, an extra

    from boundit.service.keys import list_keys  # noqa: PLC0415, an extra

    found = list_keys(opened)
    opened.close()
    if as_json:
        print_json(to_builtins(found))
        return
    if not found:
        click.echo("No key yet: boundit keys add makes one")
    for key in found:
        revoked = f", revoked {key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else ""
        made = f"{key.created_at:%Y-%m-%d %H:%M}"
        click.echo(f"{key.id}  {key.name}: {', '.join(key.roles)}; made {made}{revoked}")


@keys.command(short_help="Revoke a key for good.")
@click.argument("id")
@store_option
def revoke(*, id: str, store: str) -> None:  # noqa: A002, users' word
    """Revoke the key with this ID for good; 'boundit keys list' shows ids."""
    opened = open_store(store)
    from boundit.service.keys import revoke_key  # noqa: PLC0415, an extra

    key = revoke_key(opened, id)
    opened.close()
    click.echo(f"revoked the key {key.id} of {key.name}")

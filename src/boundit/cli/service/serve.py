"""``boundit serve``: policies behind HTTP, through restarts, late rewards and retries."""

import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from boundit.cli.options import command
from boundit.cli.outputs import notify
from boundit.cli.service.kernels import set_kernel_folder
from boundit.cli.service.stores import (
    find_folder,
    open_store,
    read_fields,
    set_option,
    store_option,
)

_LIMITS = ("body", "batch", "rate", "seconds", "connections")
_PATIENCE = 5.0
"""For so many seconds compiled code is waited for; then policies that lack it answer 503."""


@command(short_help="Serve policies over HTTP.")
@store_option
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen. Any address that others can reach needs keys first.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="The port; 0 takes one that is free, and says which.",
)
@set_option(
    "body (bytes of a request), batch (rows), rate (rows a second and key), seconds, connections"
)
@click.option("--verbose", is_flag=True, help="Log more; contexts are never logged.")
def serve(
    *,
    store: str,
    host: str,
    port: int,
    fields: Sequence[str],
    verbose: bool,
) -> None:
    """Serve the policies of a store until SIGTERM, SIGHUP or Ctrl-C.

    An answer is sent when what it says is on disk. Several servers may share a database (each a
    process of its own), or a folder on one machine. Needs the extra service: pip install
    'boundit[service]'; for a database 'boundit[service,postgres]'.

    \b
    Examples:
      boundit policies create ads --store shop --bounds bounds.json --window 1d
      boundit serve --store shop
      boundit serve --store postgresql://boundit@db/boundit --host 0.0.0.0
    """
    given = read_fields(fields, _LIMITS)
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise click.UsageError(f"--set {name}={value} must be a number, 0 or more.")
    opened = open_store(store, new=True)
    set_kernel_folder(find_folder(store))
    # What needs the extra is imported once it is known to be there.
    from boundit.service.engine import Engine  # noqa: PLC0415
    from boundit.service.http.access import Limits  # noqa: PLC0415
    from boundit.service.http.server import Address  # noqa: PLC0415
    from boundit.service.http.server import serve as run_server  # noqa: PLC0415
    from boundit.service.kinds import KindCompiler  # noqa: PLC0415

    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    compiler = KindCompiler(opened)
    kinds = compiler.find_new()
    if kinds:
        names = ", ".join(kinds)
        with _end_at_once():  # before it is said: who reads it may stop it at once
            notify(
                "note", f"compiling {names}, or loading it; its policies answer 503 until then"
            )
            compiler.start(_PATIENCE)
    else:
        compiler.start()
    run_server(
        Engine(opened, patient=False),
        Address(host, port),
        Limits(**given),
        on_start=_tell_address,
    )
    compiler.stop()


@contextmanager
def _end_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process by itself: the compiler drops what Python would raise for it."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _tell_address(url: str) -> None:
    """Say where the service is, once it can be asked; ``boundit serve`` hands it over."""
    click.echo(f"serving on {url} (a page for people, /openapi.json for programs)")

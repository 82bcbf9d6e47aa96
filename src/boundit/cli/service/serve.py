"""``boundit serve``: policies behind HTTP, through restarts, late rewards and retries."""

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from boundit.cli.options import Number
from boundit.cli.outputs import notify
from boundit.cli.service.kernels import set_kernel_folder
from boundit.cli.service.stores import new_store_options, open_store

_MEGABYTE = 1024 * 1024
_PATIENCE = 5.0
"""For so many seconds compiled code is waited for; then policies that lack it answer 503."""


@click.command(short_help="Serve policies over HTTP.")
@new_store_options
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
@click.option(
    "--rate",
    type=Number(0),
    default=0.0,
    metavar="N",
    help="Rows a second that each key may send: requests, what a batch has, arms.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    metavar="MB",
    help="The largest body that is taken.",
)
@click.option(
    "--max-batch",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    metavar="ROWS",
    help="The largest batch that is taken.",
)
@click.option("--verbose", is_flag=True, help="Log more; contexts are never logged.")
def serve(
    *,
    data: Path | None,
    store: str | None,
    host: str,
    port: int,
    rate: float,
    max_body: int,
    max_batch: int,
    verbose: bool,
) -> None:
    """Serve the policies of a store until SIGTERM, SIGHUP or Ctrl-C.

    An answer is sent when what it says is on disk. Several servers may share a database (each a
    process of its own), or a folder on one machine. Needs the extra service: pip install
    'boundit[service]'; for a database 'boundit[service,postgres]'.

    \b
    Examples:
      boundit policies create ads --data shop --bounds bounds.json --window 1d
      boundit serve --data shop
      boundit serve --store postgresql://boundit@db/boundit --host 0.0.0.0
    """
    opened = open_store(data, store, new=True)
    set_kernel_folder(data)
    # What needs the extra is imported once it is known to be there.
    from boundit.service.engine import Engine  # noqa: PLC0415
    from boundit.service.http.limits import Limits  # noqa: PLC0415
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
    limits = Limits(body=max_body * _MEGABYTE, batch=max_batch, rate=rate)
    run_server(Engine(opened, patient=False), Address(host, port), limits, told=_tell_address)
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

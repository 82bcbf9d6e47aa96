"""``boundit studio``: draw, ask and see why, on a page in the browser."""

import logging
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from boundit.cli.options import command
from boundit.cli.outputs import notify
from boundit.core.errors import MissingExtra


@command(short_help="Draw, ask and see why in the browser.")
@click.argument(
    "folder",
    default=".",
    metavar="[FOLDER]",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8750,
    show_default=True,
    help="The port on 127.0.0.1; 0 takes one that is free, and says which.",
)
@click.option("--no-browser", is_flag=True, help="Print the link, and open nothing.")
def studio(folder: Path, port: int, *, no_browser: bool) -> None:
    """Open a page in the browser to draw a graph, ask of a log and see why.

    Logs are read from FOLDER, the current one unless named, and what is dropped on the page is
    written there. Only this machine is listened to, and the page opens by the printed link
    alone. Ctrl-C ends it; what was drawn is kept in FOLDER. Needs the extra service: pip
    install 'boundit[service]'.

    \b
    Examples:
      boundit studio
      boundit studio shop --port 9000
      boundit studio shop --no-browser
    """
    try:
        from boundit.studio.server import StudioServer  # noqa: PLC0415, an extra
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "service") from None

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    server = StudioServer(folder, port)

    def tell() -> None:
        click.echo(f"the studio is open at {server.link}")
        if not no_browser and not webbrowser.open(server.link):
            notify("note", "no browser opened; open the link by hand")

    with suppress(KeyboardInterrupt):  # as it is meant to be ended
        server.run(tell)
    click.echo(f"the studio is closed; what was drawn is kept in {folder}")

"""``boundit studio``: the causal graph editor."""

import logging
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from boundit.cli.options import command
from boundit.cli.outputs import notify
from boundit.core.errors import MissingExtra


@command(short_help="Causal graph editor in the browser.")
@click.argument(
    "folder",
    default=".",
    metavar="[FOLDER]",
    type=click.Path(path_type=Path, exists=True),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8750,
    show_default=True,
    metavar="PORT",
    help="Port on 127.0.0.1; 0 takes a free one and prints it.",
)
@click.option("--no-browser", is_flag=True, help="Print the link without opening it.")
def studio(folder: Path, port: int, *, no_browser: bool) -> None:
    """Draw a causal graph in the browser, ask queries of a log and see the reasons.

    Logs are read from FOLDER, by default the current one; files dropped on the page and graphs
    are written there. A project file, a report or an export opens too. It listens on this machine
    only, and needs the printed link. Ctrl-C ends it. Needs the extra service: pip install
    'boundit[service]'.

    \b
    Examples:
      boundit studio
      boundit studio shop --port 9000
      boundit studio shop --no-browser
      boundit studio shop.boundit
    """
    try:
        from boundit.studio.saved import find_folder  # noqa: PLC0415, an extra
        from boundit.studio.server import StudioServer  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "service") from None

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    folder, project = find_folder(folder)
    server = StudioServer(folder, port, project=project)

    def tell() -> None:
        click.echo(f"the studio is open at {server.link}")
        if not no_browser and not webbrowser.open(server.link):
            notify("note", "no browser opened; open the link by hand")

    with suppress(KeyboardInterrupt):  # as it is meant to be ended
        server.run(tell)
    click.echo(f"the studio is closed; what was drawn is kept in {folder}")

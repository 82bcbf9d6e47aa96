"""Arguments that several commands share, and how a command speaks."""

import json
import math
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import parse_graph, read_graph
from boundit.terms.errors import UnreadableFile

# What a graph has and hardly any path: arrows, braces, blanks, statements.
_SAYS_GRAPH = re.compile(r"[-=<>]{2}|[{}\[\];\s]")
_COLOURS = {"error": "red", "caveat": "yellow", "note": "yellow", "wrote": "green"}
_READ = "boundit.files"
INTERRUPTED = 130
"""How a command exits that Ctrl-C ended, also when it kept what was done."""
_Command = TypeVar("_Command", bound=Callable[..., None])


def graph_argument(command: _Command) -> _Command:
    """Give a command its GRAPH."""
    return click.argument("graph", callback=_loaded)(command)


def json_option(command: _Command) -> _Command:
    """Give a command its --json."""
    option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
    return option(command)


def seed_option(command: _Command) -> _Command:
    """Give a command its --seed."""
    return click.option(
        "--seed",
        type=click.IntRange(0),
        metavar="N",
        default=0,
        show_default=True,
        help="The same seed gives the same numbers.",
    )(command)


def files_read(context: click.Context) -> list[str]:
    """The files that arguments were read from so far."""
    return list(context.meta.get(_READ, []))


def load(source: str) -> CausalGraph:
    """Read a graph from a file, from standard input (``-``) or from the argument itself."""
    if source == "-":
        try:
            return parse_graph(sys.stdin.read())
        except UnicodeDecodeError as error:
            raise UnreadableFile(
                "standard input", f"byte {error.start} is not UTF-8 text"
            ) from None
    if not source or (_SAYS_GRAPH.search(source) and not is_there(source)):
        return parse_graph(source)
    return read_graph(source)


def is_there(text: str) -> bool:
    """Tell whether a text is the path of something; a long one is no path at all."""
    try:
        return Path(text).exists()
    except OSError:
        return False


def show(record: object) -> None:
    """Print a record as one line of JSON."""
    click.echo(as_text(record))


def as_text(record: object) -> str:
    """Write a record as JSON, which has no ``nan``: what is no number is null.

    >>> as_text({"width": float("nan")})
    '{"width": null}'
    """
    return json.dumps(_plain(record), ensure_ascii=False, allow_nan=False)


def say(what: str, message: str) -> None:
    """Say something beside the answer: on stderr, what it is in colour on a terminal."""
    colour = False if os.environ.get("NO_COLOR") else None
    mark = "" if what == "wrote" else ":"
    head = click.style(f"{what}{mark}", fg=_COLOURS[what])
    click.echo(f"{head} {message}", err=True, color=colour)


def names_in(text: str) -> frozenset[str]:
    """Read names separated by commas."""
    return frozenset(name for part in text.split(",") if (name := part.strip()))


def _loaded(context: click.Context, _: click.Parameter, source: str) -> CausalGraph:
    if source != "-" and is_there(source):
        context.meta[_READ] = [*files_read(context), source]
    return load(source)


def _plain(found: object) -> object:
    match found:
        case float() if not math.isfinite(found):
            return None
        case dict():
            return {key: _plain(value) for key, value in found.items()}
        case list() | tuple():
            return [_plain(value) for value in found]
        case _:
            return found

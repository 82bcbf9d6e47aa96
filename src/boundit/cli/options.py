"""Arguments and options that several commands share."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from boundit.cli.flags import write_with_flags
from boundit.cli.outputs import INPUTS, OutputFile
from boundit.core.errors import GraphError, UnreadableFile
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import parse_graph, read_graph

# What a graph has and hardly any path: arrows, braces, blanks, statements.
_SAYS_GRAPH = re.compile(r"[-=<>]{2}|[{}\[\];\s]")
INTERRUPTED = 130
"""How a command exits that Ctrl-C ended, also when it kept what was done."""
_Command = TypeVar("_Command", bound=Callable[..., None])


def graph_argument(command: _Command) -> _Command:
    """Give a command its GRAPH argument. Decorates every command that asks about a graph."""
    return click.argument("graph", callback=_load_graph_argument)(command)


def json_option(command: _Command) -> _Command:
    """Give a command its --json option. Decorates every command that prints an answer."""
    option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
    return option(command)


def report_option(command: _Command) -> _Command:
    """Give a command its --report option. Decorates every command that can write a page."""
    return click.option(
        "--report", type=OutputFile(".html"), metavar="FILE.html", help="Write a page."
    )(command)


def seed_option(command: _Command) -> _Command:
    """Give a command its --seed option. Decorates every command that draws at random."""
    return click.option(
        "--seed",
        type=click.IntRange(0),
        metavar="N",
        default=0,
        show_default=True,
        help="The same seed gives the same numbers.",
    )(command)


def memory_limit_option(command: _Command) -> _Command:
    """Give a command its --memory-limit option. Decorates ``bound`` and ``check``."""
    return click.option(
        "--memory-limit",
        metavar="SIZE",
        help="For counts and arrays, as bytes or such as 2GB; a quarter of the machine's "
        "memory unless given.",
    )(command)


def load_graph(source: str) -> CausalGraph:
    """Read a graph from a file, from standard input (``-``) or from the argument itself.

    What is wrong in a file is told with its name, as several files may be given.
    """
    if source == "-":
        try:
            return parse_graph(sys.stdin.read())
        except UnicodeDecodeError as error:
            raise UnreadableFile(
                "standard input", f"byte {error.start} is not UTF-8 text"
            ) from None
    if not source or (_SAYS_GRAPH.search(source) and not is_path(source)):
        return parse_graph(source)
    try:
        return read_graph(source)
    except GraphError as error:
        raise click.UsageError(f"{source}: {write_with_flags(error.message)}") from None


def is_path(text: str) -> bool:
    """Tell whether a command's argument is the path of a file; too long a text is none."""
    try:
        return Path(text).exists()
    except OSError:
        return False


def read_names(text: str) -> frozenset[str]:
    """Read names of variables separated by commas."""
    return frozenset(name for part in text.split(",") if (name := part.strip()))


def _load_graph_argument(
    context: click.Context, _: click.Parameter, source: str
) -> CausalGraph:
    """Load the graph of a GRAPH argument, and note its file so that no output overwrites it."""
    if source != "-" and is_path(source):
        context.meta.setdefault(INPUTS, []).append(source)
    return load_graph(source)

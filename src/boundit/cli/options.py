"""Arguments that several commands share."""

import json
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
_Command = TypeVar("_Command", bound=Callable[..., None])


def graph_argument(command: _Command) -> _Command:
    """Give a command its GRAPH."""
    return click.argument("graph", callback=lambda _, __, value: load(value))(command)


def json_option(command: _Command) -> _Command:
    """Give a command its --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def load(source: str) -> CausalGraph:
    """Read a graph from a file, from standard input (``-``) or from the argument itself."""
    if source == "-":
        try:
            return parse_graph(sys.stdin.read())
        except UnicodeDecodeError as error:
            raise UnreadableFile(
                "standard input", f"byte {error.start} is not UTF-8 text"
            ) from None
    if not source or (_SAYS_GRAPH.search(source) and not Path(source).exists()):
        return parse_graph(source)
    return read_graph(source)


def show(record: object) -> None:
    """Print a record as one line of JSON."""
    click.echo(json.dumps(record, ensure_ascii=False))


def names_in(text: str) -> frozenset[str]:
    """Read names separated by commas."""
    return frozenset(name for part in text.split(",") if (name := part.strip()))

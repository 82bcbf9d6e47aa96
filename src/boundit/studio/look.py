"""A look at the log before anything is asked: columns, levels, gaps, and nodes they fit."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from msgspec import Struct

from boundit.core.errors import BounditError
from boundit.core.long_work import Progress
from boundit.counts.look import ColumnLook
from boundit.counts.memory import read_memory_limit
from boundit.counts.sources import ColumnKind
from boundit.studio.answers import CountKeeper
from boundit.studio.ask import AskedProject, lack_column, refuse
from boundit.studio.project import Project

Plain = int | float | str | bool | None
FEW_NUMBERS = 12
"""Up to how many different numbers a column holds levels rather than amounts."""
MANY_LEVELS = 50
"""From how many levels on a text is no category."""


class LevelCount(Struct, frozen=True):
    """One value of a column, and how many rows have it."""

    value: Plain
    n: int


class HistogramBars(Struct, frozen=True):
    """How many numbers lie between each two edges."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


class LookedColumn(Struct, frozen=True):
    """A column, and what it holds."""

    name: str
    kind: str
    holds: str
    levels: tuple[LevelCount, ...]
    n_levels: int
    n_missing: int
    histogram: HistogramBars | None


class DataProblem(Struct, frozen=True):
    """What of the data does not fit the project, and where."""

    where: str | None
    message: str
    hint: str | None = None


class LookAnswer(Struct, frozen=True):
    """What the log holds, whatever the graph."""

    n_rows: int
    columns: tuple[LookedColumn, ...]


class MatchAnswer(Struct, frozen=True):
    """Which columns are which nodes, and what of the data does not fit the project."""

    nodes: dict[str, str]
    unmatched_nodes: tuple[str, ...]
    suggestions: dict[str, str]
    problems: tuple[DataProblem, ...]


def answer_look(asked: AskedProject, _: CountKeeper, progress: Progress) -> LookAnswer:
    """Look at the log's file: every column, whatever the project says of it."""
    progress("read the log", 0, 1)
    look = asked.open_file().look(
        lambda done, of: progress("look at columns", done, of), read_memory_limit(None)
    )
    return LookAnswer(look.n_rows, tuple(map(_describe, look.columns)))


def answer_match(asked: AskedProject, _: CountKeeper, progress: Progress) -> MatchAnswer:
    """Match the log's columns to the nodes of a project; no row is read."""
    progress("match columns", 0, 1)
    held = list(asked.open_file().kinds)
    nodes = _match_nodes(asked.project)
    unmatched = tuple(node for column, node in nodes.items() if column not in held)
    taken = {*nodes, asked.project.data.weight}
    return MatchAnswer(
        {column: node for column, node in nodes.items() if column in held},
        unmatched,
        _suggest_columns(unmatched, [name for name in held if name not in taken]),
        tuple(_list_problems(asked, unmatched)),
    )


def _match_nodes(project: Project) -> dict[str, str]:
    """Match columns to the nodes that the log could have."""
    renamed = project.data.columns
    seen = (node.name for node in project.graph.nodes if not (node.hidden or node.selection))
    return {renamed.get(name, name): name for name in seen}


def _suggest_columns(unmatched: Iterable[str], free: list[str]) -> dict[str, str]:
    """Suggest columns for nodes that have none."""
    found = {node: _find_near(node, free) for node in unmatched}
    return {node: near for node, near in found.items() if near is not None}


def _describe(look: ColumnLook) -> LookedColumn:
    """Describe a column for the page."""
    bars, kind = look.histogram, _find_kind(look)
    return LookedColumn(
        look.name,
        kind,
        look.kind.value,
        tuple(LevelCount(_write(level), n) for level, n in look.levels),
        look.n_levels,
        look.n_missing,
        None if bars is None or kind == "level" else HistogramBars(bars.edges, bars.counts),
    )


def _find_kind(look: ColumnLook) -> str:
    """Tell whether a column holds levels, amounts or text."""
    if look.kind is ColumnKind.NUMBERS:
        return "level" if look.n_levels <= FEW_NUMBERS else "number"
    few = look.kind is ColumnKind.BOOLEANS or look.n_levels <= MANY_LEVELS
    return "level" if few and look.kind is not ColumnKind.NESTED else "text"


def _write(level: object) -> Plain:
    """Write a level for JSON."""
    return level if isinstance(level, int | float | str) else str(level)


def _find_near(node: str, free: list[str]) -> str | None:
    """Find a column that may be meant by a node: by its words, else by its letters.

    >>> _find_near("Age", ["wage", "age in years", "customer_id"])
    'age in years'
    """
    wanted = split_words(node)
    shared = {name: wanted & split_words(name) for name in free}
    best = [
        name for name in free if shared[name] and shared[name] in (wanted, split_words(name))
    ]
    if best:
        return min(best, key=lambda name: (-len(shared[name]), len(split_words(name))))
    folded = {_fold(name): name for name in free}
    near = get_close_matches(_fold(node), folded, n=1, cutoff=0.75)
    return folded[near[0]] if near else None


def split_words(name: str) -> set[str]:
    """Split a name into its words.

    >>> sorted(split_words("CustomerAge_in-years"))
    ['age', 'customer', 'in', 'years']
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", name)
    return {part.casefold() for part in parts}


def _fold(name: str) -> str:
    """Write a name without case, blanks and marks.

    >>> _fold("Time of-Day") == _fold("time_of_day")
    True
    """
    return "".join(c for c in name.casefold() if c.isalnum())


def _list_problems(asked: AskedProject, unmatched: tuple[str, ...]) -> Iterator[DataProblem]:
    """List what of the data does not fit the project."""
    try:
        asked.open_log()
    except BounditError as error:
        found = refuse(error)
        if found.where not in {f"data.columns.{name}" for name in unmatched}:  # told below
            yield DataProblem(found.where, str(found), getattr(found, "hint", None))
    for lack in map(lack_column, unmatched):
        yield DataProblem(lack.where, str(lack), lack.hint)

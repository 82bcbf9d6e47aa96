"""From cells to a table: what is wrong with the data is found here, alike for every engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.core.errors import DataError
from boundit.core.message import ANY, SOME, Message, Note, Option
from boundit.core.names import name_bins
from boundit.counts.errors import (
    TooManyCells,
    refuse_infinite,
)
from boundit.counts.levels import Codes, Levels, encode_column, join_levels
from boundit.counts.named_array import Floats
from boundit.counts.sources import CELL_LIMIT, Cells
from boundit.counts.table import ClusterLines, CountTable, cut_by_cluster, merge_cells
from boundit.graph.implications import ask_if_selection

MANY_LEVELS = 32
"""With more levels than this, a whole number is often a measurement, such as an age."""
_MISSING = {"NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null"}
MOST_CHANCE = 1e-3
"""Repeats are noted where sampling would make counts as even in so few logs."""
_BY_DESIGN = 2
_NEAR = 1e-9


def find_repeats(table: CountTable) -> tuple[int, float]:
    """Find the number that all counts of a table are multiples of, and its p-value."""
    rows = np.rint(table.n).astype(np.int64)
    counted, won = rows, None
    sums, squares, lowest, highest = table.sums, table.squares, table.lowest, table.highest
    if sums is not None and squares is not None and lowest is not None and highest is not None:
        low, high = float(lowest.min()), float(highest.max())
        between = (low + high) * sums - squares - low * high * table.n
        scale = max(abs(low), abs(high)) ** 2
        # Of two rewards, the rows with the higher one can be counted too.
        if low < high and not (between > _NEAR * table.n * scale).any():
            won = np.rint((sums - low * table.n) / (high - low)).astype(np.int64)
            counted = np.concatenate([rows, won])
    k = int(np.gcd.reduce(counted))
    if k < 2:
        return k, 1.0
    sizes = len(np.unique(rows))
    mixed = rows[:0] if won is None else won[(won > 0) & (won < rows)]
    of_rewards = float(k) ** -len(np.unique(mixed))
    return k, of_rewards * (0.5**sizes if sizes > _BY_DESIGN else 1.0)


Missing: TypeAlias = Literal["drop", "level", "error"]
Keys: TypeAlias = dict[str, tuple[Levels, Codes]]
FRACTION_LIMIT = 32
"""Numbers with a fractional part are categories up to so many levels."""
IDENTIFIER_LIMIT = 100
"""With more levels than this, values that mostly occur once are not categories."""
LEVEL_LIMIT = 10_000
"""No category has more levels than this."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a table is to be about, in the names of the graph."""

    label: str
    variables: tuple[str, ...]
    reward: str | None
    weight: str | None
    selection: str | None
    flags: tuple[str, ...]
    exact: bool
    missing: Missing
    cuts: Mapping[str, Sequence[float]]
    domain: Mapping[str, Sequence[object]]
    notes: tuple[Note, ...]
    most_cells: int = CELL_LIMIT
    cluster: str | None = None
    adaptive: bool = False
    measured: frozenset[str] = frozenset()


def tabulate(cells: Cells, asked: Request) -> CountTable:
    """Make a count table of grouped cells: check them, drop nulls, encode levels, add caveats.

    ``asked`` says how nulls, weights, reward and bins are treated.
    """
    lines = int(cells["lines"].sum())
    if not lines:
        raise DataError(f"Nothing to count in {asked.label}: it has no rows")
    if asked.selection and (others := lines - int(cells["flag_0"].sum())):
        raise DataError(
            f"The selection {asked.selection!r} is not 1 in {others:,} of {lines:,} rows. Filter "
            f"the log to {asked.selection} = 1, and pass all rows, with the columns that all of "
            "them have, as ",
            Option("external", ANY),
            ".",
        )
    if asked.weight:
        _check_weights(cells, asked.weight, exact=asked.exact)
    rows = cells["weight" if asked.weight and not asked.exact else "lines"]
    keys: Keys = {}
    for name, column in zip(asked.variables, cells.keys, strict=False):  # a cluster comes last
        levels, codes = encode_column(name, column)
        if name in asked.cuts:
            labels = name_bins(asked.cuts[name])
            levels = tuple(labels[i] if isinstance(i, int) else None for i in levels)
        keys[name] = levels, codes
    _check_levels(keys, rows, asked)
    complete, missing = _find_complete(cells, keys, rows, asked)
    reward: dict[str, Floats] = {}
    if asked.reward:
        n = np.nan_to_num(cells["rewarded_weight" if asked.weight else "rewarded"])
        reward = {name: cells[name] for name in ("sums", "squares", "lowest", "highest")}
        if np.isinf([reward["lowest"], reward["highest"]]).any():
            raise refuse_infinite(asked.reward, "outcome")
    else:
        n = cells["weight" if asked.weight else "lines"]
    kept = complete & (n > 0)
    total = float(n[kept].sum())
    if not total:
        shown = ", ".join(f"{name} ({n:,})" for name, n in missing.items())
        reason = f"every row has a null: {shown}" if missing else "every weight is zero"
        raise DataError(f"Nothing to count in {asked.label}: {reason}")
    scale = total if asked.exact else 1.0
    n = n[kept] / scale
    reward = {
        name: of[kept] / (scale if name in {"sums", "squares"} else 1.0)
        for name, of in reward.items()
    }
    levels_of, codes = _encode_in_domain(keys, len(rows), asked)
    notes = _collect_notes(cells, keys, missing, asked)
    del keys  # of many variables, the codes of every cell take more than all else
    shape = [len(levels) for levels in levels_of.values()]
    codes, cell_n, added, line = merge_cells(
        codes if kept.all() else codes[kept], shape, n, reward
    )
    table = CountTable(
        variables=asked.variables,
        levels=levels_of,
        codes=codes,
        n=cell_n,
        reward=asked.reward,
        exact=asked.exact,
        notes=notes,
        dropped=missing,
        label=asked.label,
        adaptive=asked.adaptive,
        bins={name: tuple(map(float, edges)) for name, edges in asked.cuts.items()},
        clusters=(
            _cut_by_cluster(cells, asked.cluster, kept, line, {"n": n, **reward})
            if asked.cluster
            else None
        ),
        **added,
    )
    if asked.exact or table.clusters is not None:
        return table
    k, p = find_repeats(table)
    if k < 2 or p >= MOST_CHANCE:
        return table
    repeated = Message(
        f"every count is a multiple of {k:,}, as if each row were there {k:,} times: repeated "
        "rows make intervals too narrow; give each row once, or for bounds name what repeats "
        "share with ",
        Option("cluster", ANY),
    )
    return replace(table, notes=(*notes, repeated))


def _check_weights(cells: Cells, name: str, *, exact: bool) -> None:
    """Refuse weights that are missing, infinite or negative, or that cannot be counts."""
    if missing := int((cells["lines"] - cells["weighed"]).sum()):
        problem = f"is null or NaN in {missing:,} of {cells['lines'].sum():,.0f} rows"
        fix = "give each row its weight, 0 if it is not to count"
        raise DataError(f"weight {name!r} {problem}; {fix}", option="weight")
    if np.isinf([cells["least_weight"], cells["most_weight"]]).any():
        raise refuse_infinite(name, "weight")
    if (least := cells["least_weight"].min()) < 0:
        problem = f"is negative ({least:g}) in some rows; a weight counts rows"
        raise DataError(f"weight {name!r} {problem}", option="weight")
    if not exact and np.nanmax(cells["part_weight"]) > 0:
        raise DataError(
            f"weight {name!r} has a fractional part in some rows; counts are whole numbers; for "
            "the probabilities of an exact distribution add ",
            Option("exact", True),  # noqa: FBT003, a value
            option="weight",
        )


def _check_levels(keys: Keys, rows: Floats, asked: Request) -> None:
    """Refuse more cells than fit, and a variable that is a measurement or an identifier."""
    if len(rows) > asked.most_cells:
        if asked.cluster is not None:
            raise TooManyCells(
                f"cut up by the cluster {asked.cluster!r}, the log has more than "
                f"{asked.most_cells:,} distinct rows, which do not fit; raise ",
                Option("memory_limit"),
                ", or take clusters of more rows each",
            )
        wide = sorted(((len(of), name) for name, (of, _) in keys.items()), reverse=True)
        shown = ", ".join(f"{name!r} ({n:,} levels or more)" for n, name in wide[:3])
        raise TooManyCells(
            f"the log has more than {asked.most_cells:,} distinct rows; widest are {shown}: "
            "leave them out, or cut them with ",
            Option("bins", ANY),
        )
    for name, (levels, codes) in keys.items():
        if name in asked.measured:
            continue
        known = [level for level in levels if level is not None]
        n_rows = int(rows.sum())
        if len(known) < len(levels):
            n_rows = int(rows.sum() - rows[codes == levels.index(None)].sum())
        fractional = any(isinstance(level, float) for level in known)
        few = FRACTION_LIMIT if fractional else LEVEL_LIMIT
        # Of an exact distribution we see probabilities, and cannot tell how often a value occurred.
        scarce = not asked.exact and 2 * len(known) > n_rows
        lonely = scarce and (fractional or len(known) > IDENTIFIER_LIMIT)
        if len(known) > few or lonely:
            numeric = all(isinstance(level, int | float) for level in known)
            what, fix = "an identifier", "group its values first, or leave it out of the graph"
            shown = f"{len(known):,} levels in {n_rows:,} rows; "
            if not numeric:
                raise DataError(f"{name!r} looks like {what}: {shown}{fix}")
            cut = Option("bins", {name: [SOME]})
            more = " (the graph must then hold for the bins)"
            raise DataError(f"{name!r} looks continuous: {shown}cut it with ", cut, more)


def _find_complete(
    cells: Cells, keys: Keys, rows: Floats, asked: Request
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Mark the cells without a null, and count the rows that have one, by variable."""
    complete, missing = np.ones(len(rows), dtype=np.bool_), dict[str, int]()
    for name, (levels, codes) in keys.items():
        if None in levels and asked.missing != "level":
            gone = codes == levels.index(None)
            complete &= ~gone
            missing[name] = int(rows[gone].sum())
    if asked.reward:
        valid = "rewarded_weight" if asked.weight and not asked.exact else "rewarded"
        if lost := int((rows - np.nan_to_num(cells[valid])).sum()):
            missing[asked.reward] = lost
    if missing and asked.missing != "drop":
        name = next(iter(missing))
        drop, keep = Option("missing", "drop"), Message(" or ", Option("missing", "level"))
        other = "; a reward cannot be a level" if name == asked.reward else keep
        fix = Message("drop such rows with ", drop, other)
        said = f"{name!r} is null or NaN in {missing[name]:,} of {int(rows.sum()):,} rows; "
        raise DataError(said, fix)
    return complete, missing


def _encode_in_domain(
    keys: Keys, n_cells: int, asked: Request
) -> tuple[dict[str, Levels], Codes]:
    """Join the levels seen with those declared, and code the cells in the joined levels."""
    joined: dict[str, Levels] = {}
    coded_again = np.zeros((n_cells, len(keys)), dtype=np.int64, order="F")
    for i, (name, (levels, codes)) in enumerate(keys.items()):
        seen = [v for v in levels if v is not None or asked.missing == "level"]
        joined[name] = join_levels(name, seen, asked.domain.get(name, ()))
        at = {level: place for place, level in enumerate(joined[name])}
        # A dropped null has no code: its line goes before anyone looks.
        moved = np.array([at.get(level, 0) for level in levels], dtype=np.int64)
        coded_again[:, i] = moved[codes]
    return joined, coded_again


def _collect_notes(
    cells: Cells, keys: Keys, missing: Mapping[str, int], asked: Request
) -> tuple[Note, ...]:
    """Collect the caveats of a count table: of how it is counted, then of what the rows show."""
    notes, lines = list(asked.notes), cells["lines"].sum()
    for i, name in enumerate(() if asked.selection else asked.flags):
        if cells[f"flag_{i}"].sum() == lines:
            notes.append(ask_if_selection(name, "is always 1 in this log"))
    words = list[Note]()
    for name, (levels, _) in keys.items():
        known = [level for level in levels if level is not None]
        whole = all(isinstance(level, int) for level in known)
        if name in asked.measured:
            continue
        if whole and len(known) > MANY_LEVELS and not asked.exact:
            said = (
                f"{name} has {len(known):,} levels, each counted by its own rows: if it is a "
            )
            notes.append(
                Message(f"{said}measurement, cut it with ", Option("bins", {name: [SOME]}))
            )
        if word := next((level for level in known if level in _MISSING), None):
            ask = "if it says that a value is missing, leave the cell empty"
            words.append(f"{name} has the level {word!r}: {ask}")
    notes += words
    if missing:
        rows = lines if asked.exact or not asked.weight else cells["weight"].sum()
        shown = ", ".join(f"{name} ({n:,})" for name, n in missing.items())
        notes.append(
            f"of {rows:,.0f} rows, those with a null were dropped: {shown}; the numbers describe "
            "complete rows, and being complete may itself be a selection"
        )
    # Rows that stand for many may hold their mean where rewards are neither 0 nor 1.
    if (
        asked.reward
        and asked.weight
        and not asked.exact
        and np.nanmax(cells["most_weight"]) > 1
        and not np.array_equal(cells["sums"], cells["squares"], equal_nan=True)
    ):
        notes.append(
            f"rows stand for many by {asked.weight}, with outcomes other than 0 and 1: if "
            f"{asked.reward} holds averages their spread is lost and intervals are too narrow; "
            "count each value of the outcome in a row of its own"
        )
    return tuple(notes)


def _cut_by_cluster(
    cells: Cells,
    name: str,
    kept: NDArray[np.bool_],
    line: NDArray[np.intp],
    numbers: Mapping[str, Floats],
) -> ClusterLines:
    """Cut the lines of a table up by cluster, or refuse rows that have none.

    Of the cells that are ``kept``, ``line`` says to which line each went, and ``numbers`` are
    those it has.
    """
    levels, codes = encode_column(name, cells.keys[-1])
    if None in levels:
        lost = int(cells["lines"][codes == levels.index(None)].sum())
        raise DataError(
            f"{name!r} is null or NaN in {lost:,} of {int(cells['lines'].sum()):,} rows; "
            "give each row its cluster, or leave such rows out of the log"
        )
    had = {each: of for each, of in numbers.items() if each != "squares"}
    return cut_by_cluster(name, codes[kept], line, had)

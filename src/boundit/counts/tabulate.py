"""From cells to a table: what is wrong with the data is found here, alike for every engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.counts.caveats import (
    warn_of_averages,
    warn_of_dropped_rows,
    warn_of_many_levels,
    warn_of_missing_words,
)
from boundit.counts.cells import CELL_LIMIT, Cells, Column
from boundit.counts.clusters import ClusterLines
from boundit.counts.errors import (
    BadWeight,
    Continuous,
    EmptyLog,
    HasNulls,
    NotAllSelected,
    NotFinite,
    TooManyCells,
    TooManyClusters,
)
from boundit.counts.levels import (
    Codes,
    Levels,
    encode_column,
    index_levels,
    join_levels,
)
from boundit.counts.named_array import Floats
from boundit.counts.repeats import warn_of_repeated_rows
from boundit.counts.table import CountTable, merge_cells
from boundit.counts.unmarked import ask_if_always_one
from boundit.terms.message import Message, Note, Option
from boundit.terms.scalars import name_bins

Missing: TypeAlias = Literal["drop", "level", "error"]
Keys: TypeAlias = dict[str, tuple[Levels, Codes]]
FRACTION_LIMIT = 32
"""Numbers with a fractional part are categories up to so many levels."""
IDENTIFIER_LIMIT = 100
"""With more levels than this, values that mostly occur once are no categories."""
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
    if not cells["lines"].sum():
        raise EmptyLog(asked.label, "it has no rows")
    _check_selection(cells, asked)
    _check_weights(cells, asked)
    pairs = zip(asked.variables, cells.keys, strict=False)  # a cluster comes last
    keys = {name: _encode_key(name, column, asked.cuts.get(name)) for name, column in pairs}
    _check_size(keys, len(cells["lines"]), asked)
    rows = _count_rows(cells, asked)
    for name, (levels, codes) in keys.items():
        if name in asked.measured:
            continue
        _check_category(name, levels, _count_known(codes, rows, levels), asked)
    complete, missing = _find_complete(cells, keys, rows, asked)
    n, reward = _weigh_cells(cells, asked)
    kept = complete & (n > 0)
    total = float(n[kept].sum())
    if not total:
        raise EmptyLog(asked.label, _explain_empty(missing))
    scale = total if asked.exact else 1.0
    levels_of, codes = _encode_in_domain(keys, len(n), asked)
    notes = _collect_notes(cells, keys, missing, asked)
    del keys  # of many variables, the codes of every cell take more than all else
    numbers = {
        name: of[kept] / (scale if name in _ADDED else 1.0) for name, of in reward.items()
    }
    codes, cell_n, reward, line = merge_cells(
        codes if kept.all() else codes[kept],
        [len(levels) for levels in levels_of.values()],
        n[kept] / scale,
        numbers,
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
        clusters=_cut_by_cluster(cells, asked, kept, line, {"n": n[kept], **numbers}),
        **reward,
    )
    return replace(table, notes=(*table.notes, *warn_of_repeated_rows(table)))


_ADDED = {"sums", "squares"}


def _encode_key(
    name: str, column: Column, edges: Sequence[float] | None
) -> tuple[Levels, Codes]:
    """Encode a variable's values in the cells as sorted levels and a code for each cell.

    Values cut into bins get the names of their bins.
    """
    levels, codes = encode_column(name, column)
    if edges is None:
        return levels, codes
    labels = name_bins(edges)
    return tuple(labels[i] if isinstance(i, int) else None for i in levels), codes


def _count_rows(cells: Cells, asked: Request) -> Floats:
    """Count the rows of the log that each cell stands for, by lines or by weight."""
    return cells["weight" if asked.weight and not asked.exact else "lines"]


def _check_selection(cells: Cells, asked: Request) -> None:
    """Refuse a log in which some row was not selected."""
    if asked.selection:
        rows = int(cells["lines"].sum())
        if others := rows - int(cells["flag_0"].sum()):
            raise NotAllSelected(asked.selection, others, rows)


def _check_weights(cells: Cells, asked: Request) -> None:
    """Refuse weights that are missing, infinite or negative, or that cannot be counts."""
    name = asked.weight
    if name is None:
        return
    if missing := int((cells["lines"] - cells["weighed"]).sum()):
        problem = f"is null or NaN in {missing:,} of {cells['lines'].sum():,.0f} rows"
        raise BadWeight(name, problem, "give each row its weight, 0 if it is not to count")
    if np.isinf([cells["least_weight"], cells["most_weight"]]).any():
        raise NotFinite(name, "weight")
    if (least := cells["least_weight"].min()) < 0:
        raise BadWeight(name, f"is negative ({least:g}) in some rows", "a weight counts rows")
    if not asked.exact and np.nanmax(cells["part_weight"]) > 0:
        fix = Message(
            "counts are whole numbers; for the probabilities of an exact law add ",
            Option("exact", True),  # noqa: FBT003, a value
        )
        raise BadWeight(name, "has a fractional part in some rows", fix)


def _cut_by_cluster(
    cells: Cells,
    asked: Request,
    kept: NDArray[np.bool_],
    line: NDArray[np.intp],
    numbers: dict[str, Floats],
) -> ClusterLines | None:
    """Cut the lines of a table up by cluster, or refuse rows that have none.

    Of the cells that are ``kept``, ``line`` says to which line each went, and ``numbers`` are
    those it has. None where no cluster was asked for.
    """
    if asked.cluster is None:
        return None
    levels, codes = encode_column(asked.cluster, cells.keys[-1])
    if None in levels:
        lost = int(cells["lines"][codes == levels.index(None)].sum())
        fix = Message("give each row its cluster, or leave such rows out of the log")
        raise HasNulls(asked.cluster, lost, int(cells["lines"].sum()), fix)
    return ClusterLines.from_cells(asked.cluster, codes[kept], line, numbers)


def _check_size(keys: Keys, n_cells: int, asked: Request) -> None:
    """Refuse more combinations of values than fit, naming the widest variables."""
    most = asked.most_cells
    if n_cells > most:
        if asked.cluster is not None:
            raise TooManyClusters(asked.cluster, most)
        wide = sorted(((len(of), name) for name, (of, _) in keys.items()), reverse=True)
        raise TooManyCells(most, [(name, n) for n, name in wide[:3]])


def _check_category(name: str, levels: Levels, rows: int, asked: Request) -> None:
    """Refuse a variable with so many levels that it is a measurement or an identifier."""
    known = [level for level in levels if level is not None]
    fractional = any(isinstance(level, float) for level in known)
    few = FRACTION_LIMIT if fractional else LEVEL_LIMIT
    # Of an exact law we see probabilities, and cannot tell how often a value occurred.
    scarce = not asked.exact and 2 * len(known) > rows
    lonely = scarce and (fractional or len(known) > IDENTIFIER_LIMIT)
    if len(known) > few or lonely:
        numeric = all(isinstance(level, int | float) for level in known)
        raise Continuous(name, len(known), rows=rows, numeric=numeric)


def _count_known(codes: Codes, rows: Floats, levels: Levels) -> int:
    """Count the rows in which a variable is not null."""
    return int(rows.sum() - (rows[codes == len(levels) - 1].sum() if None in levels else 0))


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
        raise HasNulls(name, missing[name], int(rows.sum()), fix)
    return complete, missing


def _weigh_cells(cells: Cells, asked: Request) -> tuple[Floats, dict[str, Floats]]:
    """Find the weight of each cell's rows, and the sums and range of their reward."""
    if not asked.reward:
        return cells["weight" if asked.weight else "lines"], {}
    n = np.nan_to_num(cells["rewarded_weight" if asked.weight else "rewarded"])
    reward = {name: cells[name] for name in ("sums", "squares", "lowest", "highest")}
    if np.isinf([reward["lowest"], reward["highest"]]).any():
        raise NotFinite(asked.reward, "reward")
    return n, reward


def _encode_in_domain(
    keys: Keys, n_cells: int, asked: Request
) -> tuple[dict[str, Levels], Codes]:
    """Join the levels seen with those declared, and code the cells in the joined levels."""
    seen = {
        name: levels if asked.missing == "level" else [v for v in levels if v is not None]
        for name, (levels, _) in keys.items()
    }
    joined = {name: join_levels(name, seen[name], asked.domain.get(name, ())) for name in keys}
    at = index_levels(joined)
    # A dropped null has no code: its line goes before anyone looks.
    coded_again = np.zeros((n_cells, len(keys)), dtype=np.int64, order="F")
    for i, (name, (levels, codes)) in enumerate(keys.items()):
        moved = np.array([at[name].get(level, 0) for level in levels], dtype=np.int64)
        coded_again[:, i] = moved[codes]
    return joined, coded_again


def _collect_notes(
    cells: Cells, keys: Keys, missing: Mapping[str, int], asked: Request
) -> tuple[Note, ...]:
    """Collect the caveats of a count table: of how it is counted, then of what the rows show."""
    levels = {name: found for name, (found, _) in keys.items() if name not in asked.measured}
    return (
        *asked.notes,
        *(ask_if_always_one(name) for name in _find_always_one(cells, asked)),
        *(() if asked.exact else warn_of_many_levels(levels)),
        *warn_of_missing_words(levels),
        *warn_of_dropped_rows(missing, _count_rows(cells, asked).sum()),
        *_warn_if_averaged(cells, asked),
    )


def _find_always_one(cells: Cells, asked: Request) -> list[str]:
    """Find the nodes that may be an unmarked selection node and are 1 in every row of the log."""
    rows, flags = cells["lines"].sum(), () if asked.selection else asked.flags
    return [name for i, name in enumerate(flags) if cells[f"flag_{i}"].sum() == rows]


def _warn_if_averaged(cells: Cells, asked: Request) -> tuple[str, ...]:
    """Warn where weighted rows hold rewards other than 0 and 1, which may be means of rows."""
    if not (asked.reward and asked.weight) or asked.exact:
        return ()
    repeated = np.nanmax(cells["most_weight"]) > 1
    if not repeated or np.array_equal(cells["sums"], cells["squares"], equal_nan=True):
        return ()
    return warn_of_averages(asked.reward, asked.weight)


def _explain_empty(missing: Mapping[str, int]) -> str:
    """Say why no row is left: weights of zero, or nulls and whose."""
    if not missing:
        return "every weight is zero"
    shown = ", ".join(f"{name} ({n:,})" for name, n in missing.items())
    return f"every row has a null: {shown}"

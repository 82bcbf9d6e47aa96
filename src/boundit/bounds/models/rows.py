"""Rows of a log as models take them: features as numbers, the arm, the context, the reward.

They come back from the one pass that also makes contingency tables, with numbers as they are
and the reward as one more column: each distinct row, how often it was there, and sorted. So
every engine can give them, whole-number weights are rows, and nothing hangs on the order in
which rows were stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.models.options import InvalidModels
from boundit.counts.cells import ColumnKind
from boundit.counts.errors import NotFinite
from boundit.counts.levels import Codes, Levels, sort_levels
from boundit.counts.log import Log
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.terms.message import Note, Option
from boundit.terms.names import sort_names

FEW_LEVELS = 10
"""Up to so many levels, each has a feature of its own, also those of a number."""
MOST_LEVELS = 50
"""So many of the commonest levels of a text have features of their own; the rest share none."""


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows of a table, each a line of ``features``; ``context`` numbers its context.

    ``arm`` and ``reward`` (on the scale from 0 to 1) are empty for an external table;
    ``cluster`` is None where rows stand alone.
    """

    features: Floats
    context: NDArray[np.intp]
    arm: NDArray[np.intp]
    reward: Floats
    cluster: Codes | None = None

    def __len__(self) -> int:
        return len(self.features)


def find_numbers(log: Log, names: Iterable[str]) -> list[str]:
    """Find which variables of a log are numbers; those cut into bins are none."""
    return [
        name
        for name in sort_names(frozenset(names).intersection(log.names))
        if name not in log.bins and log.source.kinds[log.names[name]] is ColumnKind.NUMBERS
    ]


def count_rows(
    log: Log,
    query: EffectQuery,
    covariates: Iterable[str],
    cluster: str | None,
    memory_limit: int,
    *,
    external: bool = False,
) -> CountTable:
    """Count every distinct row of what models read, numbers and the reward as they are.

    Of an ``external`` table these are the contexts and the covariates alone: a row without an
    arm or a reward tells as much of them.
    """
    asked = [*query.context, *sort_names(frozenset(covariates))]
    measured = {*find_numbers(log, covariates)}
    if not external:
        asked += [*query.treatments, *query.outcomes]
        measured |= {*query.outcomes}
    return log.count(asked, cluster=cluster, measured=measured, memory_limit=memory_limit)


def expand_rows(table: CountTable) -> tuple[NDArray[np.intp], Codes | None]:
    """Number for every row the line of the table that it is in, and its cluster if it has one."""
    if table.clusters is None:
        return np.repeat(np.arange(len(table.n)), _count(table.n)), None
    times = _count(table.clusters.n)
    return np.repeat(table.clusters.line, times), np.repeat(table.clusters.cluster, times)


def _count(n: Floats) -> NDArray[np.intp]:
    """Read counts of rows as whole numbers."""
    return np.rint(n).astype(np.intp)


@dataclass(frozen=True, eq=False)
class FeatureCoding:
    """How the levels of each covariate become numbers, the same for every table.

    ``values`` maps a variable to the numbers of each level, a line for a level.
    """

    values: Mapping[str, Mapping[object, Floats]]
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, tables: Sequence[CountTable], names: Sequence[str]) -> "FeatureCoding":
        """Choose how the levels of covariates become numbers, from all tables together.

        Numbers with many values stay what they are; a missing one is their middle and has a
        feature of its own. Other levels have a feature each, but the commonest.
        """
        values, notes = dict[str, Mapping[object, Floats]](), list[Note]()
        for name in names:
            _require_one_kind(tables, name)
            levels = sort_levels(level for table in tables for level in table.levels[name])
            if _are_numbers(levels):
                values[name] = _code_numbers(name, levels)
                continue
            kept = _rank_common(tables, name)
            if len(kept) > MOST_LEVELS + 1:
                notes.append(
                    f"{name} has {len(kept):,} levels; models tell the {MOST_LEVELS} commonest "
                    "apart, and what the others share may still confound"
                )
            values[name] = _code_levels(levels, kept[1 : MOST_LEVELS + 1])
        return cls(values, tuple(notes))

    @property
    def n_features(self) -> int:
        """How many numbers stand for the covariates of a row."""
        return sum(len(next(iter(of.values()))) for of in self.values.values())

    def encode(self, table: CountTable) -> Floats:
        """Write the covariates of each line of a table as numbers, a column for each feature."""
        blocks = [np.zeros((len(table.n), 0))]
        for name, found in self.values.items():
            by_level = np.array([found[level] for level in table.levels[name]])
            blocks.append(by_level[table.codes[:, table.variables.index(name)]])
        return np.hstack(blocks)


def _require_one_kind(tables: Sequence[CountTable], name: str) -> None:
    """Refuse a variable that is one kind of value in the log and another in an external table.

    No level of the one would ever meet a level of the other.
    """
    kinds = [_name_kinds(table.levels[name]) for table in tables]
    for other in kinds[1:]:
        if kinds[0] and other and kinds[0] != other:
            raise InvalidModels(
                Option("models"),
                f" cannot read {name!r}: in the log it has {kinds[0]}, in the external table "
                f"{other}; give it one kind of value in both",
            )


def _name_kinds(levels: Levels) -> str:
    """Name the kinds of values among levels; booleans are numbers, and a null is of no kind."""
    found = set[ColumnKind]()
    for level in levels:
        match level:
            case None:
                pass
            case int() | float():
                found.add(ColumnKind.NUMBERS)
            case str():
                found.add(ColumnKind.TEXT)
            case _:
                found.add(ColumnKind.TIMES)
    return " and ".join(sorted(kind.value for kind in found))


def _are_numbers(levels: Levels) -> bool:
    """Tell whether levels are numbers that are too many to have a feature each."""
    known = [level for level in levels if level is not None]
    plain = all(isinstance(v, int | float) and not isinstance(v, bool) for v in known)
    return plain and len(known) > FEW_LEVELS


def _code_numbers(name: str, levels: Levels) -> dict[object, Floats]:
    """Write numbers as themselves; a missing one as their median, and that it is missing."""
    known = np.array([level for level in levels if level is not None], dtype=np.float64)
    if not np.isfinite(known).all():
        raise NotFinite(name, "covariate")
    if None not in levels:
        return {level: np.array([value]) for level, value in zip(levels, known, strict=True)}
    middle = float(np.median(known))
    return {
        level: np.array([middle if level is None else level, level is None], dtype=np.float64)
        for level in levels
    }


def _rank_common(tables: Sequence[CountTable], name: str) -> list[object]:
    """Rank the levels of a variable, the commonest in all tables first."""
    rows = dict[object, float]()
    for table in tables:
        counted = table.marginalize(name).values
        for level, n in zip(table.levels[name], counted.tolist(), strict=True):
            rows[level] = rows.get(level, 0.0) + n
    order = sort_levels(rows)
    return sorted(order, key=lambda level: -rows[level])


def _code_levels(levels: Levels, kept: Sequence[object]) -> dict[object, Floats]:
    """Write each of the ``kept`` levels as a feature of its own, others as none of them."""
    place = {level: i for i, level in enumerate(kept)}
    found = dict[object, Floats]()
    for level in levels:
        found[level] = np.zeros(len(kept))
        if level in place:
            found[level][place[level]] = 1.0
    return found


def make_rows(
    table: CountTable,
    coding: FeatureCoding,
    query: EffectQuery,
    levels: Mapping[str, Levels],
    outcome_range: tuple[float, float] | None = None,
) -> ModelRows:
    """Make the rows of a table: features, joint numbers of arm and context, scaled rewards.

    ``levels`` are those by which arms and contexts are numbered. Without a ``outcome_range`` the
    rows have neither arm nor reward.
    """
    line, cluster = expand_rows(table)
    features = coding.encode(table)
    where = _join_codes(table, query.context, levels)
    if outcome_range is None:
        none = np.zeros(0, dtype=np.intp)
        return ModelRows(features[line], where[line], none, np.zeros(0), cluster)
    (outcome,), (low, high) = query.outcomes, outcome_range
    paid = np.array([float(level) for level in table.levels[outcome]])  # type: ignore[arg-type]
    if not np.isfinite(paid).all():
        raise NotFinite(outcome, "reward")
    reward = ((paid - low) / (high - low))[table.codes[:, table.variables.index(outcome)]]
    arm = _join_codes(table, query.treatments, levels)
    return ModelRows(features[line], where[line], arm[line], reward[line], cluster)


def _join_codes(
    table: CountTable, names: Sequence[str], levels: Mapping[str, Levels]
) -> NDArray[np.intp]:
    """Number the combination of some variables' levels in each line of a table."""
    joint = np.zeros(len(table.n), dtype=np.intp)
    for name in names:
        known = levels[name]
        at = {level: i for i, level in enumerate(known)}
        codes = np.array([at[level] for level in table.levels[name]], dtype=np.intp)
        own = codes[table.codes[:, table.variables.index(name)]]
        joint = joint * len(known) + own
    return joint

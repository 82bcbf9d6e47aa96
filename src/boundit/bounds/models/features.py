"""Rows of a log as models take them: features as numbers, the arm, the context, the outcome.

They come from the one pass that also makes contingency tables, with numbers and the outcome as
they are: each distinct row, how often it occurs, and sorted. So every engine can give them,
whole-number weights are rows, and nothing depends on the order in which rows were stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.caveats import note_joined_levels
from boundit.core.errors import OptionError
from boundit.core.message import Caveat, Option
from boundit.core.names import sort_names
from boundit.counts.errors import refuse_infinite
from boundit.counts.levels import Codes, Levels, sort_levels
from boundit.counts.log import Log
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats
from boundit.counts.sources import ColumnKind
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery

FEW_LEVELS = 10  # up to so many levels, each has a feature of its own, also those of a number
MAX_LEVELS = 50  # so many of the commonest levels of a text have features of their own


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows of a table, each a line of ``features``; ``context`` numbers its context.

    ``arm`` and ``outcome`` (on the scale from 0 to 1) are empty for an external table;
    ``cluster`` is None where rows are independent.
    """

    features: Floats
    context: NDArray[np.intp]
    arm: NDArray[np.intp]
    outcome: Floats
    cluster: Codes | None = None

    def __len__(self) -> int:
        return len(self.features)


def find_numbers(log: Log, names: Iterable[str]) -> list[str]:
    """Find which variables of a log are numbers that were not cut into bins."""
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
    """Count every distinct row of what models read, numbers and the outcome as they are.

    Of an ``external`` table these are contexts and covariates alone: a row without an arm or an
    outcome tells as much of them.
    """
    asked = [*query.context, *sort_names(frozenset(covariates))]
    measured = {*find_numbers(log, covariates)}
    if not external:
        asked += [*query.treatments, *query.outcomes]
        measured |= {*query.outcomes}
    return log.count(asked, cluster=cluster, measured=measured, memory_limit=memory_limit)


def make_rows(
    tables: Sequence[CountTable],
    query: EffectQuery,
    covariates: Iterable[str],
    levels: Mapping[str, Levels],
    outcome_range: tuple[float, float],
    workspace: Workspace,
) -> tuple[list[ModelRows], tuple[Caveat, ...]]:
    """Make the rows of the log and of an external table, with the same features; and caveats.

    ``levels`` are those by which arms and contexts are numbered.
    """
    names = [*query.context, *sort_names(frozenset(covariates))]
    codings = [Coding.of(tables, name) for name in names]
    n_numbers = sum(coding.n_features for coding in codings)
    n_numbers += 4 * prod(len(levels[name]) for name in query.treatments)  # predictions
    for table in tables:
        workspace.require_cells(int(table.rows) * n_numbers, table.variables)
    expanded = [_expand(table) for table in tables]
    features = encode(tables, [line for line, _ in expanded], codings)
    found = list[ModelRows]()
    for table, (line, cluster), own in zip(tables, expanded, features, strict=True):
        context = _join_codes(table, query.context, levels)[line]
        arm, outcome = np.zeros(0, dtype=np.intp), np.zeros(0)
        if not found:  # the log comes first
            arm = _join_codes(table, query.treatments, levels)[line]
            outcome = _scale_outcome(table, query.outcomes[0], outcome_range)[line]
        found.append(ModelRows(own, context, arm, outcome, cluster))
    return found, tuple(note for coding in codings for note in coding.notes)


def _expand(table: CountTable) -> tuple[NDArray[np.intp], Codes | None]:
    """Number for every row the line of the table that it is in, and its cluster."""
    if table.clusters is None:
        return np.repeat(np.arange(len(table.n)), np.rint(table.n).astype(np.intp)), None
    times = np.rint(table.clusters.n).astype(np.intp)
    return np.repeat(table.clusters.line, times), np.repeat(table.clusters.cluster, times)


@dataclass(frozen=True, eq=False)
class Coding:
    """A number for each level of a covariate: the level itself, or which one of few it is."""

    name: str
    numbers: Mapping[object, float]
    is_number: bool = False

    @classmethod
    def of(cls, tables: Sequence[CountTable], name: str) -> "Coding":
        """Choose the coding of a covariate from all tables together."""
        _require_one_kind(tables, name)
        levels = sort_levels(level for table in tables for level in table.levels[name])
        known = [level for level in levels if level is not None]
        plain = all(isinstance(v, int | float) and not isinstance(v, bool) for v in known)
        if not plain or len(known) <= FEW_LEVELS:
            return cls(name, {level: float(i) for i, level in enumerate(levels)})
        if not np.isfinite(np.array(known, dtype=np.float64)).all():
            raise refuse_infinite(name, "covariate")
        numbers = {v: np.nan if v is None else float(v) for v in levels}  # type: ignore[arg-type]
        return cls(name, numbers, is_number=True)

    @property
    def n_features(self) -> int:
        """How many features it has, about."""
        if self.is_number:
            return 1 + (None in self.numbers)
        return min(len(self.numbers) - 1, MAX_LEVELS)

    @property
    def notes(self) -> tuple[Caveat, ...]:
        """A caveat where rare levels are joined."""
        if self.is_number or len(self.numbers) <= MAX_LEVELS + 1:
            return ()
        return (note_joined_levels(self.name, len(self.numbers), MAX_LEVELS),)


def encode(
    tables: Sequence[CountTable], lines: Sequence[NDArray[np.intp]], codings: Sequence[Coding]
) -> list[Floats]:
    """Encode covariates as features, for the rows of all tables together.

    Numbers with many values stay as they are; a missing one is the median, with an indicator.
    Other levels have a feature each, but for one; all but the commonest of many share one.
    """
    from sklearn.compose import ColumnTransformer  # noqa: PLC0415, heavy, and an extra
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder  # noqa: PLC0415

    raw = [np.empty((len(line), len(codings))) for line in lines]
    for place, coding in enumerate(codings):
        for table, line, block in zip(tables, lines, raw, strict=True):
            own = np.array([coding.numbers[level] for level in table.levels[coding.name]])
            block[:, place] = own[table.codes[line, table.variables.index(coding.name)]]
    numbers = SimpleImputer(strategy="median", add_indicator=True)
    levels = OneHotEncoder(drop="first", max_categories=MAX_LEVELS + 1, sparse_output=False)
    transformer = ColumnTransformer(
        [
            ("numbers", numbers, [i for i, coding in enumerate(codings) if coding.is_number]),
            ("levels", levels, [i for i, coding in enumerate(codings) if not coding.is_number]),
        ]
    )
    whole = np.asarray(transformer.fit_transform(np.vstack(raw)), dtype=np.float64)
    return np.split(whole, np.cumsum([len(line) for line in lines])[:-1])


def _require_one_kind(tables: Sequence[CountTable], name: str) -> None:
    """Refuse a variable whose levels are of different kinds in the log and an external table.

    A level of one would never equal a level of the other.
    """
    first, *rest = (_name_kinds(table.levels[name]) for table in tables)
    for other in rest:
        if first and other and first != other:
            raise OptionError(
                Option("models"),
                f" cannot read {name!r}: in the log it has {first}, in the external table "
                f"{other}; give it one kind of value in both",
            )


def _name_kinds(levels: Levels) -> str:
    """Name the kinds of values among levels; booleans are numbers, and a null has no kind."""
    found = set[str]()
    for level in levels:
        match level:
            case None:
                pass
            case int() | float():
                found.add(ColumnKind.NUMBERS.value)
            case str():
                found.add(ColumnKind.TEXT.value)
            case _:
                found.add(ColumnKind.TIMES.value)
    return " and ".join(sorted(found))


def _scale_outcome(
    table: CountTable, outcome: str, outcome_range: tuple[float, float]
) -> Floats:
    """The outcome of each line, on the scale from 0 to 1."""
    low, high = outcome_range
    values = np.array([float(level) for level in table.levels[outcome]])  # type: ignore[arg-type]
    if not np.isfinite(values).all():
        raise refuse_infinite(outcome, "reward")
    scaled = (values - low) / (high - low)
    return np.asarray(scaled[table.codes[:, table.variables.index(outcome)]])


def _join_codes(
    table: CountTable, names: Sequence[str], levels: Mapping[str, Levels]
) -> NDArray[np.intp]:
    """Number the combination of some variables' levels in each line of a table."""
    joint = np.zeros(len(table.n), dtype=np.intp)
    for name in names:
        at = {level: i for i, level in enumerate(levels[name])}
        codes = np.array([at[level] for level in table.levels[name]], dtype=np.intp)
        joint = joint * len(levels[name]) + codes[table.codes[:, table.variables.index(name)]]
    return joint

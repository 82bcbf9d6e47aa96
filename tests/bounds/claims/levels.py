r"""Sums of levels, :math:`\sum_v \prod_j P_j(v_j \mid g_j) m(g)`, their weights and values.

An index with a prime is a column read under a second name: in the front door's
:math:`\sum_{m,x'} P(x') P(m \mid x) E[Y \mid x', m]` the index ``x'`` reads the column ``x``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tests.bounds.claims.logs import Floats, Law, Logs


def name_column(index: str) -> str:
    """Name the column that an index reads."""
    return index.rstrip("'")


@dataclass(frozen=True)
class Level:
    """The law of one index given others."""

    of: str
    given: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its table, its own first."""
        return tuple(name_column(name) for name in (self.of, *self.given))


@dataclass(frozen=True)
class LevelForm:
    """Levels in the order in which columns are revealed; the last is the reward's."""

    levels: tuple[Level, ...]
    fixed: Mapping[str, int]
    sizes: Mapping[str, int]
    rewards: tuple[float, ...] = (0.0, 1.0)
    letters: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Give every index a letter."""
        found = dict.fromkeys(
            name for level in self.levels for name in (level.of, *level.given)
        )
        object.__setattr__(self, "letters", dict(zip(found, "abcdefghijkl", strict=False)))

    @property
    def last(self) -> Level:
        """The level of the reward."""
        return self.levels[-1]

    def spell(self, names: Sequence[str]) -> str:
        """Spell indices as letters."""
        return "".join(self.letters[name] for name in names)

    def find_truths(self, law: Law) -> list[Floats]:
        """Find the true table of every level; of the last, the mean reward."""
        tables = [law.table_of(each.columns[0], each.columns[1:]) for each in self.levels]
        tables[-1] = np.tensordot(np.array(self.rewards), tables[-1], axes=1)
        return tables

    def multiply(
        self,
        tables: Sequence[tuple[Sequence[str], Floats]],
        fixed: Sequence[str],
        to: Sequence[str],
    ) -> Floats:
        """Sum products of tables over all indices but ``to``, for every log."""
        terms, arrays = list[str](), list[Floats]()
        for names, table in tables:
            spelled = self.spell(names)
            terms.append("L" * (table.ndim > len(spelled)) + spelled)
            arrays.append(table)
        for name in fixed:
            terms.append(self.letters[name])
            arrays.append(np.eye(self.sizes[name_column(name)])[self.fixed[name]])
        for name in to:
            if not any(self.letters[name] in term for term in terms):
                terms.append(self.letters[name])
                arrays.append(np.ones(self.sizes[name_column(name)]))
        terms.append("L")
        arrays.append(np.ones(self._logs(tables)))
        found: Floats = np.einsum(",".join(terms) + "->L" + self.spell(to), *arrays)
        return found

    @staticmethod
    def _logs(tables: Sequence[tuple[Sequence[str], Floats]]) -> int:
        """Count the logs that the tables speak of."""
        return max((len(t) for names, t in tables if t.ndim > len(names)), default=1)

    def find_theta(self, law: Law) -> float:
        """Find the true value of the sum."""
        named = self._name(self.find_truths(law))
        return float(self.multiply(named, list(self.fixed), ())[0])

    def _name(self, tables: Sequence[Floats]) -> list[tuple[Sequence[str], Floats]]:
        """Pair tables with their indices; the last has those of its ``given``."""
        found: list[tuple[Sequence[str], Floats]] = [
            ((each.of, *each.given), table)
            for each, table in zip(self.levels, tables, strict=True)
        ]
        found[-1] = (self.last.given, tables[-1])
        return found


@dataclass(frozen=True)
class Estimate:
    """What all logs say of a form: for every level its counts, shares, weights, values.

    ``shares`` may be replaced where a level has holes, before weights are computed.
    """

    form: LevelForm
    law: Law
    hits: tuple[Floats, ...]
    rows: tuple[Floats, ...]
    shares: tuple[Floats, ...]
    _found: dict[tuple[str, int], Floats] = field(init=False, default_factory=dict, repr=False)
    """Weights and spreads of levels, which every scale and every penalty asks for again."""

    @cached_property
    def theta(self) -> Floats:
        """The estimate for every log, with the reward's holes as in ``shares``."""
        named = self.form._name(self.shares)
        return self.form.multiply(named, list(self.form.fixed), ())

    def weigh(self, place: int) -> Floats:
        """Weigh the cells of a level's ``given`` by the estimated factors before it."""
        if ("weight", place) not in self._found:
            self._found["weight", place] = self._find_weights(place)
        return self._found["weight", place]

    def _find_weights(self, place: int) -> Floats:
        before = self.form._name(self.shares)[:place]
        drawn = {each.of for each in self.form.levels[:place]}
        later = {each.of for each in self.form.levels[place:]}
        fixed = [name for name in self.form.fixed if name in drawn or name not in later]
        known = {name for names, _ in before for name in names} | {
            *self.form.levels[place].given
        }
        return self._over_logs(
            self.form.multiply(
                before,
                [name for name in fixed if name in known],
                self.form.levels[place].given,
            )
        )

    def value(self, place: int) -> Floats:
        """Find the true value of what follows each outcome of a level, where it has weight.

        Averaged over earlier indices with the estimated weights.
        """
        level, truths = self.form.levels[place], self.form.find_truths(self.law)
        named = self.form._name(
            [*self.shares[:place], self.shares[place], *truths[place + 1 :]]
        )
        del named[place]
        to = (level.of, *level.given)
        total = self._over_logs(self.form.multiply(named, list(self.form.fixed), to))
        weight = self.weigh(place)[:, None]
        return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)

    def _over_logs(self, table: Floats) -> Floats:
        """Repeat a table that is the same for all logs."""
        return np.broadcast_to(table, (len(self.rows[-1]), *table.shape[1:]))

    def spread(self, place: int) -> Floats:
        """Average at the shares the squared distance of a level's value from its true mean."""
        if ("spread", place) not in self._found:
            self._found["spread", place] = self._find_spread(place)
        return self._found["spread", place]

    def _find_spread(self, place: int) -> Floats:
        value = self.value(place)
        truth = self.form.find_truths(self.law)[place]
        mean = (truth * value).sum(axis=1, keepdims=True)
        found: Floats = (self.shares[place] * (value - mean) ** 2).sum(axis=1)
        return found


def estimate(
    form: LevelForm, law: Law, logs: Sequence[Logs], *, hole: float = 0.0, other: str = "zero"
) -> Estimate:
    """Read a form off all logs: one ``Logs`` for each level.

    Holes of the last level have ``hole`` as mean. Those of other levels: ``zero`` leaves them
    without weight, ``even`` spreads them evenly, ``least`` puts all on the truly least value
    and ``greatest`` on the greatest.
    """
    hits, rows, shares = list[Floats](), list[Floats](), list[Floats]()
    for each, source in zip(form.levels, logs, strict=True):
        hits.append(source.count(each.columns))
        rows.append(hits[-1].sum(axis=1))
        total = rows[-1][:, None]
        empty = 1 / hits[-1].shape[1] if other == "even" else 0.0
        shares.append(
            np.divide(hits[-1], total, out=np.full_like(hits[-1], empty), where=total > 0)
        )
    sums = np.tensordot(hits[-1], np.array(form.rewards), axes=(1, 0))
    shares[-1] = np.divide(sums, rows[-1], out=np.full_like(sums, hole), where=rows[-1] > 0)
    found = Estimate(form, law, tuple(hits), tuple(rows), tuple(shares))
    if other in ("least", "greatest"):
        for place in range(len(form.levels) - 1):
            value = found.value(place)
            size = value.shape[1]
            best = value.argmin(axis=1) if other == "least" else value.argmax(axis=1)
            point = np.moveaxis(np.eye(size)[best], -1, 1)
            empty_cells = np.broadcast_to(rows[place][:, None] == 0, value.shape)
            shares[place] = np.where(empty_cells, point, shares[place])
            found = Estimate(form, law, tuple(hits), tuple(rows), tuple(shares))
    return found

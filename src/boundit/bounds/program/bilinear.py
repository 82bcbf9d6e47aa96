"""A bilinear program: variables between bounds, linear rows, products of two variables.

While a program is written, everything is an *entry*: a number where it is known, else a variable.
Sums of entries become rows, products of two variables triples ``z = x y``. Where a variable is a
linear form of the reweighting ``theta`` its coefficients are kept, so that a ratio of two such
forms is known to be a number (they are proportional) or at least between two endpoints.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boundit.bounds.program.types import TypeBlock, Variable
from boundit.core.rounding import EXACT_ROUNDING
from boundit.counts.named_array import Floats

CONSTANT = 1e-10  # two forms whose ratio moves by less are taken as proportional


Entry: TypeAlias = float | Variable
Form: TypeAlias = dict[Variable, float]
FormPair: TypeAlias = tuple[Form, Form]
"""Both endpoints of the coefficients of ``theta`` in a form."""
Weighted: TypeAlias = tuple[float, Entry]


class Row(NamedTuple):
    """``lower <= form <= upper``."""

    form: Form
    lower: float
    upper: float


class RatioForm(NamedTuple):
    """A variable that is the ratio of two forms in ``theta``."""

    variable: Variable
    top: FormPair
    bottom: FormPair


@dataclass
class BilinearProgram:
    """What was written so far. ``made`` holds what is written once and read again."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    products: list[tuple[Variable, Variable, Variable]] = field(default_factory=list)
    ratios: list[RatioForm] = field(default_factory=list)
    forms: dict[Variable, FormPair] = field(default_factory=dict)
    made: dict[Hashable, Any] = field(default_factory=dict)
    blocks: "list[TypeBlock]" = field(default_factory=list)
    slack: float = EXACT_ROUNDING  # how far a number may be off: more once a ratio was rounded

    def copy(self) -> "BilinearProgram":
        """The same program, to be written on for one row of a table."""
        return BilinearProgram(
            self.lower.copy(),
            self.upper.copy(),
            self.rows.copy(),
            self.products.copy(),
            self.ratios.copy(),
            self.forms.copy(),
            self.made.copy(),
            self.blocks,
            self.slack,
        )

    def add_variable(self, lower: float = 0.0, upper: float = 1.0) -> Variable:
        """Write a new variable between bounds."""
        self.lower.append(lower)
        self.upper.append(upper)
        return Variable(len(self.lower) - 1)

    def fix(self, entry: Entry) -> Variable:
        """A variable for an entry: a number gets a fresh one, as equal cells are not one cell."""
        if isinstance(entry, Variable):
            return entry
        return self.add_variable(max(entry - self.slack, 0.0), min(entry + self.slack, 1.0))

    def add_row(
        self, terms: Iterable[Weighted], lower: float = 0.0, upper: float = 0.0
    ) -> None:
        """State ``lower <= sum of terms <= upper``."""
        form, constant = collect(terms)
        if form:
            self.rows.append(Row(form, lower - constant, upper - constant))

    def add(self, entries: Iterable[Weighted]) -> Entry:
        """A weighted sum of entries: a number, or one variable for equal sums."""
        form, constant = collect(entries)
        if not form:
            return constant
        if constant == 0.0 and list(form.values()) == [1.0]:
            return next(iter(form))
        key = frozenset(form.items()), constant
        if key not in self.made:
            ends = [
                sum(
                    pick(c * self.lower[v.index], c * self.upper[v.index])
                    for v, c in form.items()
                )
                for pick in (min, max)
            ]
            total = self.made[key] = self.add_variable(constant + ends[0], constant + ends[1])
            self.add_row(
                [*((c, v) for v, c in form.items()), (-1.0, total)], -constant, -constant
            )
            if constant == 0.0 and min(form.values()) > 0 and form.keys() <= self.forms.keys():
                self.forms[total] = add_forms(form, self.forms)
        found: Variable = self.made[key]
        return found

    def total(self, entries: Iterable[Entry]) -> Entry:
        """The sum of entries."""
        return self.add((1.0, entry) for entry in entries)

    def multiply(self, x: Entry, y: Entry) -> Entry:
        """The product of two entries; of two variables it is a triple ``z = x y``."""
        if not isinstance(x, Variable):
            return self.add([(x, y)])
        if not isinstance(y, Variable):
            return self.add([(y, x)])
        key = frozenset((x, y))
        if key not in self.made:
            self.made[key] = self.add_variable()
            self.products.append((self.made[key], x, y))
        found: Variable = self.made[key]
        return found

    def multiply_all(self, entries: Iterable[Entry]) -> Entry:
        """The product of entries, from the first on."""
        found: Entry = 1.0
        for entry in entries:
            found = self.multiply(found, entry)
        return found

    def divide(
        self,
        pairs: Sequence[tuple[Entry, Entry]],
        known: tuple[float, float] = (0.0, 1.0),
        *,
        cell: Hashable = None,
    ) -> Entry:
        """An entry k with ``top = k bottom`` for all pairs: a number if they are proportional.

        ``known`` are endpoints of k found in another way, ``cell`` says which probability it is:
        where the bottom is zero, equal pairs do not make it one.
        """
        key = ("ratio", cell, tuple(pairs), known)
        if key in self.made:
            found: Variable = self.made[key]
            return found
        low, high = known
        ratios = list[tuple[FormPair, FormPair]]()
        for top, bottom in pairs if high - low > CONSTANT else ():
            if not isinstance(bottom, Variable):
                if bottom > 0:
                    return self.add([(1 / bottom, top)])
            elif isinstance(top, Variable) and {top, bottom} <= self.forms.keys():
                ratios.append((self.forms[top], self.forms[bottom]))
                least, most = bound_ratio(*ratios[-1])
                if most - least <= CONSTANT:
                    low, high = least, most
                    break
                low, high = max(low, least), min(high, most)
        if high - low <= CONSTANT:
            self.slack = max(self.slack, CONSTANT) if low < high else self.slack
            return (low + high) / 2
        ratio = self.add_variable(
            max(low - EXACT_ROUNDING, 0.0), min(high + EXACT_ROUNDING, 1.0)
        )
        stated = [(top, bottom) for top, bottom in pairs if isinstance(bottom, Variable)]
        if stated:  # where nothing is logged, each conditional probability may be another
            self.made[key] = ratio
        self.ratios += (RatioForm(ratio, *forms) for forms in ratios)
        self.products += ((self.fix(top), bottom, ratio) for top, bottom in stated)
        return ratio


def collect(terms: Iterable[Weighted]) -> tuple[Form, float]:
    """Add up the coefficients of each variable, and the numbers."""
    form, constant = Form(), 0.0
    for weight, entry in terms:
        if isinstance(entry, Variable):
            form[entry] = form.get(entry, 0.0) + weight
        else:
            constant += weight * entry
    return {variable: weight for variable, weight in form.items() if weight}, constant


def add_forms(weights: Form, forms: Mapping[Variable, FormPair]) -> FormPair:
    """The coefficients of ``theta`` in a sum of forms with positive weights."""
    found: FormPair = ({}, {})
    for (variable, weight), end in product(weights.items(), (0, 1)):
        for theta, value in forms[variable][end].items():
            found[end][theta] = found[end].get(theta, 0.0) + weight * value
    return found


def bound_ratio(top: FormPair, bottom: FormPair) -> tuple[float, float]:
    """Between the least and greatest ratio of single coefficients, whatever ``theta`` is."""
    (top_low, top_high), (bottom_low, bottom_high) = top, bottom
    used = [theta for theta, most in bottom_high.items() if most > 0]
    low = min((top_low.get(t, 0.0) / bottom_high[t] for t in used), default=0.0)
    high = max(
        (
            top_high.get(t, 0.0) / bottom_low[t] if bottom_low.get(t, 0.0) > 0 else inf
            for t in used
        ),
        default=1.0,
    )
    return low, min(high, 1.0)


ROUNDS = 4  # of Dinkelbach's method
_LEAST = 1e-9  # a smaller denominator proves nothing


def bound_ratios(sign: int, top: Floats, bottom: Floats, low: Floats, high: Floats) -> Floats:
    """The greatest (``sign`` 1) or least (-1) ``top theta / bottom theta``, row by row.

    Over ``low <= theta <= high`` that sum to one. Linear-fractional: Dinkelbach (1967) on a
    greedy filling. The last filling is the greatest of ``(top - t bottom) theta``, so that no
    ratio exceeds t by more than that over the least denominator; and none exceeds the ratios of
    single coefficients, whatever theta is.
    """
    theta = np.broadcast_to((low + high) / 2, top.shape)
    ratio = np.zeros(len(top))
    for _ in range(ROUNDS):
        below = np.maximum((bottom * theta).sum(axis=1), 1e-14)
        ratio = (top * theta).sum(axis=1) / below
        order = np.argsort(-sign * (top - ratio[:, None] * bottom), axis=1)
        slack = (high - low)[order]
        filled = np.clip((1 - low.sum()) - (np.cumsum(slack, axis=1) - slack), 0, slack)
        theta = np.empty(top.shape)
        np.put_along_axis(theta, order, low[order] + filled, axis=1)
    slack = np.maximum(sign * ((top - ratio[:, None] * bottom) * theta).sum(axis=1), 0.0)
    least = np.maximum((bottom * low).sum(axis=1), bottom.min(axis=1))
    proved = np.where(
        least > _LEAST, ratio + sign * slack / np.maximum(least, _LEAST), sign * inf
    )
    none = ~(bottom > 0).any(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        single = np.where(
            bottom > 0, top / bottom, np.where((top > 0) | none, sign * inf, -sign * inf)
        )
    worst = sign * np.minimum(sign * proved, (sign * single).max(axis=1))
    return np.asarray(worst, dtype=np.float64)

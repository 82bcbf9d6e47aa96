"""Sums of levels by brute force on exact laws, and random rules to make them of."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.claims.level_form import Level, LevelForm, RatioForm, Unmet, find_form
from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.plan import plan_bounds
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from boundit.simulation.model import Model
from boundit.terms.names import join_names, sort_names
from tests.bounds.exact import Asked, questions


def find_forms(asked: Asked) -> Iterator[tuple[BoundRule, LevelForm | RatioForm | Unmet]]:
    """Find the forms of all rules that bound a question."""
    graph = asked.model.graph
    for planned in plan_bounds(graph, asked.query, tables=asked.tables).rules:
        yield planned.rule, find_form(planned.rule, graph)


@cache
def draw_forms() -> tuple[tuple[Asked, BoundRule, LevelForm | RatioForm], ...]:
    """Draw some hundred rules that have a form, with the questions that they answer."""
    return tuple(
        (asked, rule, form)
        for asked in questions(250, seed=3)
        for rule, form in find_forms(asked)
        if not isinstance(form, Unmet)
    )


def read_exactly(asked: Asked) -> PlugInNumbers:
    """Read formulas off the exact law of the log and those of the tables."""
    model = asked.model
    tables = asked.tables if model.graph.selection else (model.graph.observed,)
    return PlugInNumbers(Evaluator(model.log(), [model.law(table) for table in tables]))


def find_law(model: Model, level: Level) -> NamedArray:
    """Find the joint law of the rows that a level is read off."""
    return model.log() if level.term.logged else model.law()


def evaluate_form(form: LevelForm | RatioForm, model: Model) -> tuple[Floats, Floats]:
    """Find both ends of a form on exact laws by a sum over all assignments.

    Their axes are those of the form, then its idle variables.
    """
    if isinstance(form, RatioForm):
        inner = form.form
        dense = _multiply(inner, model, (*inner.axes, *inner.idle, *sort_names(inner.drawn)))
        sums = dense.sum(axis=tuple(range(1 + len(inner.axes + inner.idle), dense.ndim)))
        share = sums[SUCCESS] / sums.sum(axis=0)
        return share, share
    depths = form.drawn
    # From the outside in: the sums of a depth, then the worst variable within them.
    nested = list[str]()
    for depth in range(len(form.worst) + 1):
        nested += sort_names(name for name in depths if depths[name] == depth)
        nested += form.worst[depth : depth + 1]
    dense = _multiply(form, model, (*form.axes, *form.idle, *nested))[SUCCESS]
    lower = upper = dense
    for name in reversed(nested):
        if name in form.worst:
            lower, upper = lower.min(axis=-1), upper.max(axis=-1)
        else:
            lower, upper = lower.sum(axis=-1), upper.sum(axis=-1)
    return lower, upper


def _multiply(form: LevelForm, model: Model, names: tuple[str, ...]) -> Floats:
    """Multiply all levels at every assignment, the outcome first."""
    order = (form.outcome, *names)
    sizes = {
        name: model.n_levels[column]
        for level in form.levels
        for name, column in level.columns.items()
    }
    dense = np.ones([sizes.get(name, model.n_levels.get(name, 1)) for name in order])
    for level in form.levels:
        law = find_law(model, level).marginalize(level.term.free)
        table = law.condition_on(level.term.given)
        renamed = tuple(level.names.get(axis, axis) for axis in table.axes)
        dense = dense * NamedArray(renamed, table.values).align(order)
    return dense


def write_form(form: LevelForm | RatioForm | Unmet) -> str:
    """Write a form's levels: @ marks their depth, / their fold, * tables of everyone."""
    if isinstance(form, Unmet):
        return f"unmet: {form.reason}"
    if isinstance(form, RatioForm):
        return f"ratio: {write_form(form.form)}"
    parts = list[str]()
    for level in form.levels:
        given = f" | {join_names(level.given)}" if level.given else ""
        everyone = "" if level.term.logged else "*"
        depth = f"@{level.depth}" if level.depth else ""
        fold = f"/{level.fold}" if level.fold else ""
        parts.append(f"P({join_names(level.of)}{given}){everyone}{depth}{fold}")
    worst = f"worst {', '.join(form.worst)}: " if form.worst else ""
    idle = f", any {', '.join(form.idle)}" if form.idle else ""
    return f"{worst}{' '.join(parts)}{idle}"

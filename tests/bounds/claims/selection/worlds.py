"""Small populations with a known law of selection, and logs drawn from them."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.claims.pilot import SplitSources, split_sources
from boundit.bounds.claims.selection.selection_claims import (
    SelectionClaims,
    make_selection_claims,
)
from boundit.bounds.claims.selection.selection_form import SelectionForm, find_selection_form
from boundit.bounds.plan import BoundPlan, plan_sound
from boundit.bounds.rules.natural import NaturalBounds
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.rules.reweighted_types import ReweightedTypes
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.log import Log
from boundit.counts.named_array import Floats
from boundit.counts.read import read_log
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.names import Nodes

MEDIATOR = "X -> M -> Y; X -> Y; M -> [S]"
BOW = "X -> Y; X <-> Y; Y -> [S]"
LEVELS = {"X": 2, "M": 3, "Y": 2}
LIMIT = SelectionFacts(limit=2.0)
RATE = SelectionFacts(rate=(0.5, 0.5))


def plan(
    graph: str, facts: SelectionFacts, tables: Sequence[Nodes] = (), query: str = "Y | do(X)"
) -> BoundPlan:
    """Plan the bounds of an effect with facts about selection."""
    return plan_sound(parse(graph), parse_query(query), facts=facts, tables=tables)


def list_forms(
    graph: str, facts: SelectionFacts, tables: Sequence[Nodes] = (), query: str = "Y | do(X)"
) -> list[SelectionForm | Unmet]:
    """List the forms of the rules of a plan that reweight the log."""
    rules = [each.rule for each in plan(graph, facts, tables, query).rules]
    return [
        find_selection_form(rule)
        for rule in rules
        if isinstance(rule, ReweightedChain | NaturalBounds | ReweightedTypes)
    ]


def find_mean(graph: str, facts: SelectionFacts, tables: Sequence[Nodes] = ()) -> SelectionForm:
    """Find the last mean of the population among the forms of a plan's rules."""
    found = list_forms(graph, facts, tables)
    return [form for form in found if isinstance(form, SelectionForm)][-1]


def open_counts(counts: Floats, names: Sequence[str], *, exact: bool = False) -> Log:
    """Open an array of counts as a log."""
    there = np.argwhere(counts > 0)
    columns: dict[str, list[object]] = {
        name: there[:, i].tolist() for i, name in enumerate(names)
    }
    columns["n"] = counts[tuple(there.T)].tolist()
    return read_log(columns, weight="n", exact=exact)


def split(
    counts: Floats, names: Sequence[str], tables: Mapping[str, Floats] | None = None
) -> SplitSources:
    """Split a log and tables of single variables into pilot and rest."""
    domain = {name: range(n) for name, n in zip(names, counts.shape, strict=True)}
    log = open_counts(counts, names)
    columns = frozenset(names) - {"Y"}
    table = log.count(columns, reward="Y", domain={n: domain[n] for n in columns})
    others = [
        BinaryReward(
            open_counts(each, name).count({name}, domain={name: domain[name]}), None, 0.0, 1.0
        )
        for name, each in (tables or {}).items()
    ]
    return split_sources(BinaryReward(table, "Y", 0.0, 1.0), others, larger=True)


def make_claims(
    form: SelectionForm,
    counts: Floats,
    names: Sequence[str],
    tables: Mapping[str, Floats] | None = None,
) -> SelectionClaims:
    """Make the claims on a mean of the population from a log."""
    levels = dict(zip(names, counts.shape, strict=True))
    sources = split(counts, names, tables)
    made = make_selection_claims(form, sources, levels, Workspace.make_default())
    assert isinstance(made, SelectionClaims)
    return made


def draw_law(rng: Generator, shape: Sequence[int]) -> Floats:
    """Draw the law of the logged rows."""
    law: Floats = rng.dirichlet(np.full(int(np.prod(shape)), 2.0)).reshape(shape)
    return law

"""Rules that end in programs, and logs of random models to try them on."""

from collections.abc import Mapping

import numpy as np

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.claims.programs.program_form import ProgramForm, find_program_form
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.nested_chain import NestedChain, find_nested_chains
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.query import parse_query
from boundit.graph.text import parse

INSTRUMENT = "Z -> X -> Y; X <-> Y"
STRATA = "W -> Z -> X -> Y; X <-> Y; W -> X; W -> Y"
BOW = "X -> Y; X <-> Y"
MEDIATOR = "Z -> X -> M -> Y; X <-> Y; X <-> M; X -> Y"


def list_rules(drawn: str, query: str = "Y | do(X)") -> list[NestedChain]:
    """The rules of a graph that end in a program or in a chain within."""
    search = ChainSearch(parse(drawn), parse_query(query))
    return [*find_nested_chains(search, longest=3)]


def list_forms(drawn: str, query: str = "Y | do(X)") -> list[ProgramForm]:
    """The sums of levels whose value a program bounds."""
    found = (find_program_form(rule, parse(drawn)) for rule in list_rules(drawn, query))
    return [form for form in found if isinstance(form, ProgramForm)]


def find_form_with(drawn: str, summed: str, varied: str) -> ProgramForm:
    """The sum over some variables of a program with some instruments."""
    (found,) = (
        form
        for form in list_forms(drawn)
        if form.summed == frozenset(summed) and form.program.varied == tuple(varied)
    )
    return found


def count(law: NamedArray, counts: Floats) -> BinaryReward:
    """Counts of a law's cells as a log."""
    names = [name for name in law.axes if name != "Y"]
    rows = NamedArray(law.axes, counts).align((*names, "Y"))
    n, won = rows.sum(axis=-1), rows[..., 1]
    codes = np.argwhere(n > 0).astype(np.int64)
    n, won = n[tuple(codes.T)], won[tuple(codes.T)]
    levels = {name: tuple(range(law.n_levels[name])) for name in names}
    lowest, highest = np.where(won < n, 0.0, 1.0), np.where(won > 0, 1.0, 0.0)
    table = CountTable(tuple(names), levels, codes, n, "Y", won, won.copy(), lowest, highest)
    return BinaryReward(table, "Y", 0.0, 1.0)


def draw_log(law: NamedArray, n: int, rng: np.random.Generator) -> BinaryReward:
    """Draw a log of so many rows."""
    drawn = rng.multinomial(n, law.values.ravel()).astype(np.float64)
    return count(law, drawn.reshape(law.values.shape))


def count_levels(law: NamedArray) -> Mapping[str, int]:
    """How many levels each variable has."""
    return dict(law.n_levels)

"""A random model with given rates: what somebody knows who has no log yet."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator

from boundit.bandit.errors import BadOption
from boundit.bounds.selection_facts import InvalidFact
from boundit.counts.named_array import Floats, NamedArray
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.elimination import sum_product
from boundit.simulation.model import Model
from boundit.simulation.options import read_whole
from boundit.terms.message import Option

STRENGTH = 0.7
"""How far causes move the log odds of their effects: the standard deviation."""
MOST_STEPS = 500
"""How often rates are mended until they fit."""


def draw_rough_model(
    graph: CausalGraph, shares: Mapping[str, Sequence[float]], rng: Generator
) -> Model:
    """Draw a model of a graph in which each variable has the given shares of its levels.

    Shares are those of everyone; every variable of the graph has some. Causes move the log odds
    of their effects by normal draws; then each variable in turn is shifted until its shares
    fit. Hidden causes have two levels. Called by ``expect_widths`` for every model.

    >>> from boundit.graph.read import parse_graph
    >>> graph = parse_graph("X -> Y; X <-> Y")
    >>> shares = {"X": (0.9, 0.1), "Y": (0.996, 0.004)}
    >>> model = draw_rough_model(graph, shares, np.random.default_rng(0))
    >>> model.law("Y").values.round(6)
    array([0.996, 0.004])
    """
    hidden = {f"{a}<->{b}": (a, b) for a, b in sorted(graph.bidirected)}
    tables = {name: NamedArray((name,), np.full(2, 0.5)) for name in hidden}
    for node in graph.order:
        causes = [*graph.links[node].parents]
        causes += [name for name, ends in hidden.items() if node in ends]
        above = sum_product(list(tables.values()), causes)
        wanted = np.asarray(shares[node], dtype=np.float64)
        noise = rng.normal(0, STRENGTH, (*above.values.shape, len(wanted)))
        tables[node] = NamedArray((*causes, node), _shift_to(noise, above.values, wanted))
    return Model(graph, {n: (t.axes[:-1], t.values) for n, t in tables.items()})


def _shift_to(noise: Floats, above: Floats, wanted: Floats) -> Floats:
    """Shift log chances by one number for each level until their mean is as wanted.

    ``above`` is the law of the causes. Called by ``draw_rough_model`` for every variable.
    """
    shift = np.log(wanted)
    for _ in range(MOST_STEPS):
        raised = np.exp(noise + shift)
        chances = raised / raised.sum(axis=-1, keepdims=True)
        found = (above[..., None] * chances).reshape(-1, len(wanted)).sum(axis=0)
        if np.abs(found / wanted - 1).max() < 1e-9:
            break
        shift = shift + np.log(wanted / found)
    return np.asarray(chances)


def read_shares(
    graph: CausalGraph,
    rates: Mapping[str, float | Sequence[float]],
    levels: Mapping[str, int],
    selection_rate: float | None,
) -> dict[str, tuple[float, ...]]:
    """Read the shares of each variable's levels from rates and numbers of levels.

    Called by ``expect_widths``. Raises BadOption for what are no shares.

    >>> from boundit.graph.read import parse_graph
    >>> read_shares(parse_graph("X -> Y -> [S]"), {"Y": 0.25}, {"X": 4}, None)
    {'X': (0.25, 0.25, 0.25, 0.25), 'Y': (0.75, 0.25), 'S': (0.5, 0.5)}
    """
    if selection_rate is not None and graph.selection is None:
        raise InvalidFact(
            "the graph has no selection node, so ",
            Option("selection_rate"),
            " says nothing; draw one, as in 'X -> [S]', or leave it out",
        )
    for option, given in (("rates", rates), ("levels", levels)):
        if not isinstance(given, Mapping):
            raise BadOption(option, "a mapping from variables to numbers", given)
    found = dict[str, tuple[float, ...]]()
    for name in graph.order:
        if name == graph.selection:
            rate = 0.5 if selection_rate is None else selection_rate
            found[name] = _read_rate(name, rate, 2, option="selection_rate")
        elif name in rates:
            found[name] = _read_rate(name, rates[name], levels.get(name), option="rates")
        else:
            n = read_whole("levels", levels.get(name, 2), least=2)
            found[name] = (1 / n,) * n
    return found


def _read_rate(
    name: str, given: float | Sequence[float], levels: int | None, *, option: str
) -> tuple[float, ...]:
    """Read one rate: the chance of level 1, or the shares of all levels, made to sum to 1.

    Called by ``read_shares`` for every variable that has one.
    """
    what, expected = (
        f"the rate of {name}",
        "a chance as 0.004 or shares as (0.7, 0.3)",
    )
    try:
        values = np.array(given, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise BadOption(what, expected, repr(given), option=option) from None
    if len(values) == 1:
        values = np.append(1 - values, values)
    if not len(values) or not (np.isfinite(values) & (values > 0)).all():
        raise BadOption(what, f"{expected}, all above 0", repr(given), option=option)
    if levels is not None and len(values) != levels:
        raise BadOption(what, f"shares of {levels} levels", repr(given), option=option)
    return tuple((values / values.sum()).tolist())

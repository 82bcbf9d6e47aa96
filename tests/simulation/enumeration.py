"""The truth, slowly: every state one by one, hidden variables too, in plain Python."""

from collections.abc import Iterator, Mapping
from itertools import product

from boundit.counts.named_array import NamedArray
from boundit.simulation.scm import SCM

State = dict[str, int]


def list_states(
    model: SCM, do: Mapping[str, int] | None = None
) -> Iterator[tuple[State, float]]:
    """Every state with its probability when ``do`` are set by hand (truncated product)."""
    fixed = dict(do or {})
    nodes = sorted(model.tables)
    drawn = {n: (t.axes, t.values.tolist()) for n, t in model.tables.items() if n not in fixed}
    for values in product(*(range(model.n_levels[node]) for node in nodes)):
        state = dict(zip(nodes, values, strict=True))
        if any(state[node] != value for node, value in fixed.items()):
            continue
        chance = 1.0
        for axes, table in drawn.values():
            entry = table
            for axis in axes:
                entry = entry[state[axis]]
            chance *= entry
        yield state, chance


def compute_probability(
    model: SCM, event: Mapping[str, int], do: Mapping[str, int] | None = None
) -> float:
    """``P(event | do)``."""
    return sum(
        chance
        for state, chance in list_states(model, do)
        if all(state[node] == value for node, value in event.items())
    )


def list_points(array: NamedArray) -> Iterator[tuple[State, float]]:
    """Every cell of an array with its number."""
    for values in product(*map(range, array.values.shape)):
        yield dict(zip(array.axes, values, strict=True)), float(array.values[values])

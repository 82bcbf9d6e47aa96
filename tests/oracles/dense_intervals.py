"""Both ends of a formula with everything multiplied out, over all its variables at once."""

from collections.abc import Callable, Mapping
from math import prod

import numpy as np

from boundit.core.names import Nodes, sort_names
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.expression import Expression, P, Product, Ratio, Sum, find_variables

Ends = tuple[Floats, Floats]
ReadTerm = Callable[[P], tuple[NamedArray, NamedArray]]


def multiply_out(
    formula: Expression, read: ReadTerm, levels: Mapping[str, int]
) -> tuple[NamedArray, NamedArray]:
    """Compute both ends at every value of the free variables, nan where a part is undefined."""
    axes = tuple(sort_names(find_variables(formula)))

    def compute(node: Expression) -> tuple[Nodes, Ends]:
        match node:
            case P(of, given):
                of_term = read(node)
                return of | given, (of_term[0].align(axes), of_term[1].align(axes))
            case Sum(over, body):
                free, ends = compute(body)
                gone = tuple(i for i, axis in enumerate(axes) if axis in over & free)
                times = prod(levels[name] for name in over - free)
                low, high = (end.sum(axis=gone, keepdims=True) * times for end in ends)
                return free - over, (low, high)
            case Product(factors):
                free, low, high = frozenset[str](), np.ones(()), np.ones(())
                for factor in factors:
                    names, ends = compute(factor)
                    free, low, high = free | names, low * ends[0], high * ends[1]
                return free, (low, high)
            case Ratio(top, bottom):
                (above, up), (below, down) = compute(top), compute(bottom)
                return above | below, (up[0] / down[1], up[1] / down[0])
            case _:
                raise AssertionError(node)

    with np.errstate(invalid="ignore", divide="ignore"):
        free, ends = compute(formula)
    kept = tuple(axis for axis in axes if axis in free)
    shape = [levels[axis] if axis in free else 1 for axis in axes]
    low, high = (
        NamedArray(kept, np.broadcast_to(end, shape).reshape([levels[a] for a in kept]))
        for end in ends
    )
    return low, high

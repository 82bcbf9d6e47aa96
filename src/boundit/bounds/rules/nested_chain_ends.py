"""Staged rules on numbers: the ends at the core, taken back through every chain around it."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import HEADS
from boundit.bounds.numbers import LEFT_OUT, UNFINISHED, Ends, Numbers
from boundit.bounds.proof import EndProof, Place
from boundit.bounds.rules.chain import KnownFormula
from boundit.bounds.rules.chain_ends import backwards
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.bounds.rules.type_layout import ProgramLayout
from boundit.bounds.rules.type_program import ProgramEnds, TimeBudget, solve
from boundit.counts.named_array import Floats, NamedArray
from boundit.terms.names import sort_names


def staged_ends(
    stage: NestedChain,
    numbers: Numbers,
    *,
    outcome: str,
    axes: Sequence[str],
    clock: TimeBudget,
) -> Ends:
    """Bracket the core at every value of its own axes, then go backwards to ``axes``."""
    order = (*axes, *(link.variable for link in stage.links))
    inner = stage.inner
    if isinstance(inner, ResponseProgram):
        return _from_program(stage, inner, numbers, axes, clock)
    if isinstance(inner, KnownFormula):
        low, high = numbers.between(inner.expression, (*order, outcome))
        ends = Ends(low[..., HEADS].clip(0, 1), high[..., HEADS].clip(0, 1))
        return backwards(stage.links, ends, numbers, axes=axes)
    own = sort_names(stage.asked.treatments | stage.asked.context)
    within = staged_ends(inner, numbers, outcome=outcome, axes=own, clock=clock)
    ends = Ends(_moved(within.lower, own, order), _moved(within.upper, own, order))
    empty = _reached(within.empty, own, stage, numbers, axes)
    back = backwards(stage.links, ends, numbers, axes=axes)
    return Ends(back.lower, back.upper, empty, None, within.notes)


def _from_program(
    stage: NestedChain,
    spec: ResponseProgram,
    numbers: Numbers,
    axes: Sequence[str],
    clock: TimeBudget,
) -> Ends:
    order = (*axes, *(link.variable for link in stage.links))
    found = solve(ProgramLayout(spec, numbers.levels), numbers, clock)
    ends = Ends(
        _moved(found.lower, found.axes, order),
        _moved(found.upper, found.axes, order),
    )
    back = backwards(stage.links, ends, numbers, axes=axes)
    notes = [note for told, note in _NOTES.items() if getattr(found, told)]
    proof = None if stage.links else partial(_proof, found, tuple(axes))
    empty = _reached(found.empty, found.axes, stage, numbers, axes)
    return Ends(back.lower, back.upper, empty, proof, tuple(notes))


_NOTES: Mapping[str, str] = {"unfinished": UNFINISHED, "left_out": LEFT_OUT}


def _proof(
    found: ProgramEnds,
    axes: tuple[str, ...],
    place: Place,
    upper: bool,  # noqa: FBT001
) -> EndProof | None:
    levels = dict(zip(axes, place, strict=True))
    return found.proofs.get((tuple(levels[axis] for axis in found.axes), upper))


def _moved(values: Floats, axes: Sequence[str], order: Sequence[str]) -> Floats:
    return NamedArray(tuple(axes), values).aligned(order)


def _reached(
    empty: NDArray[np.bool_] | None,
    own: Sequence[str],
    stage: NestedChain,
    numbers: Numbers,
    axes: Sequence[str],
) -> NDArray[np.bool_] | None:
    """Which rows an empty program is part of."""
    if empty is None or not empty.any():
        return None
    order = (*axes, *(link.variable for link in stage.links))
    moved = _moved(empty.astype(np.float64), own, order)
    over = tuple(range(len(axes), len(order)))
    shape = [numbers.levels[axis] for axis in axes]
    return np.broadcast_to(moved.max(axis=over) > 0, shape)

"""What rounds of a simulation show, as leaves of a plan, for whole runs in compiled code."""

import numpy as np

from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.fused.observation import LeafReader
from boundit.bandit.fused.runs import Sights
from boundit.terms.bound_errors import OutsideDomain


def lay_out_sights(reader: LeafReader, layout: BatchLayout, runs: BatchRuns) -> Sights | None:
    """Put into arrays what each round may show, and the leaves that it then ends in.

    None if an environment shows values that the plan does not know.
    """
    side, luck = layout.environment.side_observation, runs.observation_uniforms
    n_leaves = len(reader.leaves)
    if side is None or luck is None or not reader.variables:
        nothing = np.zeros((len(runs.contexts), 0))
        none = np.zeros(0, np.int64)
        return Sights(nothing, np.zeros((0, 2, 0)), none, np.ones((0, n_leaves), np.bool_))
    try:
        found = [
            reader.read(dict(zip(side.variables, cell, strict=True))) for cell in side.cells
        ]
    except OutsideDomain:
        return None
    met = np.repeat(np.arange(len(layout.contexts)), np.diff(layout.starts))
    return Sights(
        luck,
        np.ascontiguousarray(side.ends[met, layout.places], np.float64),
        np.array([leaf for leaf, _ in found], np.int64),
        np.array([may_be for _, may_be in found], np.bool_),
    )

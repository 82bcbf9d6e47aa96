"""Whole runs of optimal allocation matching, in machine code."""

import math
from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Places
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.kernels.explore import find_explored_row
from boundit.bandit.oam.allocation import solve_allocation
from boundit.bandit.oam.round import (
    EXPLOIT,
    START,
    MatchingConstants,
    choose_for_visitor,
    compute_gaps,
    compute_width,
    estimate,
    set_horizon,
)

_GROWTH = 1.05
CAP = 100.0


class BatchCandidates(NamedTuple):
    """What each context candidates: its arms that the bounds leave, context after context.

    The arms of context ``c`` are the rows from ``blocks[c]`` to ``blocks[c + 1]``; ``places``
    says where an arm stands in the environment, ``means`` what it earns. Arms that the bounds
    rule out come last: only exploration plays them. ``rows`` says where each arm of a context
    lies, contexts x arms.
    """

    x: Numbers
    blocks: Places
    lower: Numbers
    upper: Numbers
    places: Places
    means: Numbers
    rows: Places


@compile_kernel
def schedule_solution(explorations: int) -> int:
    """Give the number of explorations at which OAM next works out its allocation anew."""
    return max(explorations + 1, int(_GROWTH * explorations))


@compile_kernel
def find_wanted_pulls(
    constants: MatchingConstants, gram: Numbers, moment: Numbers, pairs: Numbers, blocks: Places
) -> Numbers:
    """Solve for how often OAM should pull every arm in every context: its allocation."""
    theta, _, _ = estimate(pairs, gram, moment)
    f = compute_width(
        constants.horizon,
        1.0 / constants.horizon,
        pairs.shape[1],
        constants.c,
        constants.sigma2,
    )
    gaps = compute_gaps(pairs, blocks, theta)
    tested = np.ones(gaps.size, np.bool_)
    return solve_allocation(pairs, gaps, tested, f, CAP, constants.smallest_gap)[0]


@compile_kernel
def add_row(gram: Numbers, moment: Numbers, x: Numbers, reward: float) -> None:
    """Add one row of features and its reward to a regression: ``G += x x'``, ``b += reward x``."""
    for i in range(x.size):
        moment[i] += reward * x[i]
        for j in range(x.size):
            gram[i, j] += x[i] * x[j]


def play_oam(
    constants: MatchingConstants,
    candidates: BatchCandidates,
    batch: BatchArrays,
) -> Places:
    """Play whole runs of OAM; gives the number of the arm pulled in every run and round.

    As the environment numbers its arms.
    """
    pulled = np.empty(batch.contexts.shape, np.int64)
    explored = batch._replace(rows=candidates.rows)
    for run in range(len(pulled)):
        _play_run(constants, candidates, explored, run, pulled[run])
    return pulled


@compile_kernel
def _play_run(
    constants: MatchingConstants,
    candidates: BatchCandidates,
    batch: BatchArrays,
    run: int,
    pulled: Places,
) -> None:
    """Play one run of OAM, and write down the arm of every pull; called by ``play_oam``."""
    contexts, uniforms = batch.contexts[run], batch.uniforms[run]
    (rows, size), n_contexts = candidates.x.shape, candidates.blocks.size - 1
    gram, moment = np.zeros((size, size)), np.zeros(size)
    pulls, allocation = np.zeros(rows), np.full(rows, math.inf)
    # Pairs are known in the order in which their contexts were first met.
    pairs, blocks = np.empty((rows, size)), np.zeros(n_contexts + 1, np.int64)
    met, order, n_met = np.zeros(n_contexts, np.bool_), np.empty(n_contexts, np.int64), 0
    explorations, due = 0, 1
    for t in range(contexts.size):
        c = contexts[t]
        a, b = candidates.blocks[c], candidates.blocks[c + 1]
        arms = (pulls[a:b], allocation[a:b], candidates.lower[a:b], candidates.upper[a:b])
        known, now = blocks[: n_met + 1], set_horizon(constants, t)
        choice = choose_for_visitor(
            now,
            gram,
            moment,
            candidates.x[a:b],
            arms,
            pairs[: known[-1]],
            known,
            explorations,
            t,
        )
        here, explored = a + choice.place, find_explored_row(batch, run, t)
        if explored >= 0:
            here = explored
        pulled[t] = candidates.places[here]
        reward = 1.0 if uniforms[t] < candidates.means[here] else 0.0
        add_row(gram, moment, candidates.x[here], reward)
        pulls[here] += 1.0
        if not met[c]:
            met[c], order[n_met] = True, c
            pairs[known[-1] : known[-1] + b - a] = candidates.x[a:b]
            blocks[n_met + 1] = known[-1] + b - a
            n_met += 1
        if explored >= 0 or choice.branch in (START, EXPLOIT):
            continue
        explorations += 1
        if explorations >= due:
            due = schedule_solution(explorations)
            known = blocks[: n_met + 1]
            found = find_wanted_pulls(now, gram, moment, pairs[: known[-1]], known)
            for k in range(n_met):
                a, b = candidates.blocks[order[k]], candidates.blocks[order[k] + 1]
                allocation[a:b] = found[known[k] : known[k + 1]]

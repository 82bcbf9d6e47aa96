"""Whole runs of optimal allocation matching, in machine code."""

import math
from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.oam.allocation import solve_allocation
from boundit.bandit.oam.round import (
    EXPLOIT,
    START,
    MatchingConstants,
    choose_for_visitor,
    compute_gaps,
    compute_width,
    estimate,
)

_GROWTH = 1.05
CAP = 100.0


class BatchCandidates(NamedTuple):
    """What each context offers: its arms that the bounds leave, context after context.

    The arms of context ``c`` are the rows from ``blocks[c]`` to ``blocks[c + 1]``; ``target``
    is what an arm is called outside, ``means`` what it earns.
    """

    x: Numbers
    blocks: Places
    lower: Numbers
    upper: Numbers
    target: Places
    means: Numbers


@compile_kernel
def schedule_solution(explorations: int) -> int:
    """Count the explorations after which the allocation is worked out again."""
    return max(explorations + 1, int(_GROWTH * explorations))


@compile_kernel
def find_wanted_pulls(
    rule: MatchingConstants, gram: Numbers, moment: Numbers, pairs: Numbers, blocks: Places
) -> Numbers:
    """Work out the allocation, a number of pulls for every pair."""
    theta, _, _ = estimate(pairs, gram, moment)
    f = compute_width(rule.horizon, 1.0 / rule.horizon, pairs.shape[1], rule.c, rule.sigma2)
    gaps = compute_gaps(pairs, blocks, theta)
    tested = np.ones(gaps.size, np.bool_)
    return solve_allocation(pairs, gaps, tested, f, CAP, rule.smallest_gap)[0]


@compile_kernel
def add_row(gram: Numbers, moment: Numbers, x: Numbers, reward: float) -> None:
    """Take in one row: ``G += x x'`` and ``b += reward x``."""
    for i in range(x.size):
        moment[i] += reward * x[i]
        for j in range(x.size):
            gram[i, j] += x[i] * x[j]


def play_oam(
    rule: MatchingConstants, offers: BatchCandidates, visitors: Places, luck: Floats
) -> Places:
    """Play every run; the ``target`` of each pull."""
    pulled = np.empty(visitors.shape, np.int64)
    for run in range(len(visitors)):
        _play_run(rule, offers, visitors[run], luck[run], pulled[run])
    return pulled


@compile_kernel
def _play_run(
    rule: MatchingConstants,
    offers: BatchCandidates,
    visitors: Places,
    luck: Floats,
    pulled: Places,
) -> None:
    (rows, size), contexts = offers.x.shape, offers.blocks.size - 1
    gram, moment = np.zeros((size, size)), np.zeros(size)
    pulls, allocation = np.zeros(rows), np.full(rows, math.inf)
    # Pairs are known in the order in which their contexts were first met.
    pairs, blocks = np.empty((rows, size)), np.zeros(contexts + 1, np.int64)
    met, order, n_met = np.zeros(contexts, np.bool_), np.empty(contexts, np.int64), 0
    explorations, due = 0, 1
    for t in range(visitors.size):
        c = visitors[t]
        a, b = offers.blocks[c], offers.blocks[c + 1]
        arms = (pulls[a:b], allocation[a:b], offers.lower[a:b], offers.upper[a:b])
        known = blocks[: n_met + 1]
        choice = choose_for_visitor(
            rule,
            gram,
            moment,
            offers.x[a:b],
            arms,
            pairs[: known[-1]],
            known,
            explorations,
            t,
        )
        here = a + choice.place
        pulled[t] = offers.target[here]
        reward = 1.0 if luck[t] < offers.means[here] else 0.0
        add_row(gram, moment, offers.x[here], reward)
        pulls[here] += 1.0
        if not met[c]:
            met[c], order[n_met] = True, c
            pairs[known[-1] : known[-1] + b - a] = offers.x[a:b]
            blocks[n_met + 1] = known[-1] + b - a
            n_met += 1
        if choice.branch in (START, EXPLOIT):
            continue
        explorations += 1
        if explorations >= due:
            due = schedule_solution(explorations)
            known = blocks[: n_met + 1]
            found = find_wanted_pulls(rule, gram, moment, pairs[: known[-1]], known)
            for k in range(n_met):
                a, b = offers.blocks[order[k]], offers.blocks[order[k] + 1]
                allocation[a:b] = found[known[k] : known[k + 1]]

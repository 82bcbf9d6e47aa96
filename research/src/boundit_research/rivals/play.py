"""Rival policies in compiled code: which of them decides, learns, and plays whole runs.

What a rival has learned is ``blocks``, a row of numbers for each arm of each context (see
``columns``), and ``shared``, what is learned of all contexts together: ARRoW-CB's weights and
the models of R-OFUL.
"""

from typing import Final

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.rng import open_stream
from boundit_research.rivals.arrow_kernels import decide_arrow, learn_arrow
from boundit_research.rivals.bounded_kernels import decide_b_kl_ucb, decide_b_ts, decide_glue
from boundit_research.rivals.columns import PLAYS, TOTAL
from boundit_research.rivals.exp3_kernels import decide_exp3_ix, learn_exp3_ix
from boundit_research.rivals.log_kernels import decide_min_ucb, decide_vir_ucb, play_log_rows
from boundit_research.rivals.oful_kernels import decide_r_oful, learn_r_oful

KINDS: Final = (
    "B-kl-UCB",
    "B-TS",
    "GLUE",
    "R-OFUL",
    "MIN-UCB",
    "VirUCB",
    "ARRoW-CB",
    "EXP3-IX",
)
"""The rivals by name; kernels know them by their places here."""
B_KL_UCB, B_TS, GLUE, R_OFUL, MIN_UCB, VIR_UCB, ARROW, EXP3_IX = range(8)


@compile_kernel
def decide_rival(
    kind: int, block: Floats, shared: Floats, scale: float, seed: int, id_hash: int
) -> int:
    """Make one decision of a rival in one context; gives the arm's row, indices in the block."""
    if kind == B_KL_UCB:
        return decide_b_kl_ucb(block, scale)
    if kind == B_TS:
        return decide_b_ts(block, scale, open_stream(seed, id_hash))
    if kind == GLUE:
        return decide_glue(block, scale)
    if kind == R_OFUL:
        return decide_r_oful(block, shared, scale)
    if kind == MIN_UCB:
        return decide_min_ucb(block, scale)
    if kind == VIR_UCB:
        return decide_vir_ucb(block, scale)
    if kind == ARROW:
        return decide_arrow(block, shared[0], scale, open_stream(seed, id_hash))
    return decide_exp3_ix(block, scale, open_stream(seed, id_hash))


@compile_kernel
def start_rival(kind: int, block: Floats, scale: float, seed: int) -> None:
    """Do what a rival does in a context before the first decision: VirUCB plays log rows."""
    if kind == VIR_UCB:
        play_log_rows(block, scale, seed)


@compile_kernel
def learn_rival(
    kind: int, block: Floats, shared: Floats, scale: float, seed: int, row: int, reward: float
) -> None:
    """Let a rival learn the reward of an arm in one context.

    Chances are those of the moment, so that rewards are to be learned as they are decided.
    """
    if kind == ARROW:
        learn_arrow(block, shared[0], scale, row, reward)
    elif kind == EXP3_IX:
        learn_exp3_ix(block, scale, row, reward)
    elif kind == R_OFUL:
        learn_r_oful(block, shared, row, reward)
    block[row, PLAYS] += 1.0
    block[row, TOTAL] += reward
    if kind == VIR_UCB:
        play_log_rows(block, scale, seed)


@compile_kernel
def play_rival(
    kind: int, blocks: Floats, shared: Floats, scale: float, batch: BatchArrays
) -> Places:
    """Play whole runs of a rival from one start; gives the arm pulled in every run and round.

    ``blocks`` are contexts x arms x columns.
    """
    runs, rounds = batch.contexts.shape
    pulls = np.empty((runs, rounds), np.int64)
    for run in range(runs):
        seed, own, learned = batch.seeds[run], blocks.copy(), shared.copy()
        for c in range(own.shape[0]):
            start_rival(kind, own[c], scale, seed)
        for t in range(rounds):
            c = batch.contexts[run, t]
            row = decide_rival(kind, own[c], learned, scale, seed, t)
            place = batch.starts[c] + row
            pulls[run, t] = batch.target[place]
            reward = 1.0 if batch.uniforms[run, t] < batch.means[place] else 0.0
            learn_rival(kind, own[c], learned, scale, seed, row, reward)
    return pulls

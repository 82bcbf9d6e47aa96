"""Decisions of the fused policy in compiled code, and what their propensities come from.

Each decision draws one tau for all arms, and for each arm whether to doubt what is fused, then
whether to take its own weights; ties are broken by one more draw for each arm.
"""

import math
from typing import NamedTuple

import numpy as np

from boundit.bandit.fused.arrays import (
    LOSSES,
    N_LEARNED,
    WEIGHT,
    WINS,
    FusedCounts,
    FusedLayout,
)
from boundit.bandit.fused.indices import score_fused, write_doubts
from boundit.bandit.fused.particles import ParticleCounts, ParticleLaws
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.ranking import mark_unscored
from boundit.bandit.kernels.rng import branch_stream, draw_uniform, open_stream
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    FUSED_PART,
    FUSED_TAU,
    LOWER,
    POSITION,
    SCORE,
    STATISTICS,
    UPPER,
)
from boundit.bandit.kernels.truncated_draws import draw_beta

POOLED, OWN, PLAIN = range(3)
"""What an arm's index came from: its column ``FUSED_PART`` of the score table."""
DOUBT_CHANCE, OWN_CHANCE, BETA_WINS, BETA_LOSSES, FIRST_INDEX = range(5)
"""Columns of what ``tabulate_indices`` writes; indices by pool and by own weights follow."""


class FusedOptions(NamedTuple):
    """The options of the fused policy that its decisions need, and the range of the rewards.

    ``capped`` says that indices are held between the ends of the score table.
    """

    kappa: float
    doubt: float
    low: float
    high: float
    capped: bool


@inline_kernel
def draw_tau(taus: Floats, uniform: float) -> int:
    """Draw the size of the log's bias for one round, by its weights."""
    tau = 0
    while tau < taus.shape[0] - 1 and uniform >= taus[tau, WEIGHT]:
        uniform -= taus[tau, WEIGHT]
        tau += 1
    return tau


@inline_kernel
def compute_reach(kappa: float, n_learned: float) -> float:
    """Compute how many deviations the index adds after some rounds."""
    return kappa * math.sqrt(2.0 * math.log(n_learned + 2.0))


@inline_kernel
def compute_log_odds(doubt: float, n_arms: int) -> float:
    """Compute the log odds of the doubt in each arm, of what all arms of a context share."""
    return math.log(doubt / n_arms) - math.log1p(-doubt / n_arms) if doubt > 0.0 else -np.inf


@inline_kernel
def is_first(
    score: float, free: float, tie: float, best: float, best_free: float, best_tie: float
) -> bool:
    """Tell whether an arm beats the best so far: by its index, uncapped index, then its draw."""
    if score != best:
        return score > best
    if free != best_free:
        return free > best_free
    return tie > best_tie


@inline_kernel
def write_score(
    options: FusedOptions, score_table: Floats, row: int, index: float, part: int, tau: int
) -> tuple[float, float]:
    """Write an arm's score and what it came from; gives the score, capped, and as it was."""
    free = options.low + (options.high - options.low) * index
    score = free
    if options.capped:
        score = max(min(free, score_table[row, UPPER]), score_table[row, LOWER])
    score_table[row, FREE_SCORE], score_table[row, SCORE] = free, score
    score_table[row, FUSED_PART], score_table[row, FUSED_TAU] = part, tau
    return score, free


@compile_kernel
def find_best_arm(
    layout: FusedLayout,
    counts: FusedCounts,
    laws: ParticleLaws,
    learned: ParticleCounts,
    by_particles: bool,  # noqa: FBT001
    options: FusedOptions,
    score_table: Floats,
    start: int,
    stop: int,
    stream: np.uint64,
    scratch: Floats,
) -> int:
    """Score the arms in some rows of a table, by one tau for all; gives the row that won."""
    uniform, stream = draw_uniform(stream)
    tau = draw_tau(learned.taus if by_particles else counts.taus, uniform)
    reach = compute_reach(options.kappa, counts.totals[N_LEARNED])
    log_odds = compute_log_odds(options.doubt, stop - start)
    winner, best, best_free, best_tie = start, -np.inf, -np.inf, -np.inf
    for row in range(start, stop):
        if options.capped and score_table[row, UPPER] < best:
            # Arms come by decreasing upper end, which no index exceeds.
            mark_unscored(score_table, row, stop)
            break
        pair = int(score_table[row, STATISTICS])
        doubt, own = write_doubts(layout, counts, pair, log_odds)
        own = 0.0 if by_particles else own
        one, inner = draw_uniform(branch_stream(stream, int(score_table[row, POSITION])))
        two, inner = draw_uniform(inner)
        tie, inner = draw_uniform(inner)
        part = PLAIN if one < doubt else OWN if two < own else POOLED
        if part == PLAIN:
            index, _ = draw_beta(counts.pairs[pair, WINS], counts.pairs[pair, LOSSES], inner)
        else:
            index = score_fused(
                layout,
                counts,
                laws,
                learned,
                by_particles,
                pair,
                tau,
                part == OWN,
                reach,
                scratch,
            )
        score, free = write_score(options, score_table, row, index, part, tau)
        if is_first(score, free, tie, best, best_free, best_tie):
            winner, best, best_free, best_tie = row, score, free, tie
    return winner


@compile_kernel
def tabulate_indices(
    layout: FusedLayout,
    counts: FusedCounts,
    laws: ParticleLaws,
    learned: ParticleCounts,
    by_particles: bool,  # noqa: FBT001
    options: FusedOptions,
    score_table: Floats,
) -> Floats:
    """Write all that the chances of the arms come from: a row for each arm of a decision.

    Doubts, the Beta law of its own rewards, and its indices by pool and by own weights under
    each tau.
    """
    scratch = np.empty((6, layout.starts.size + layout.cells.shape[1]))
    n_arms, taus = score_table.shape[0], learned.taus if by_particles else counts.taus
    reach = compute_reach(options.kappa, counts.totals[N_LEARNED])
    log_odds, n_taus = compute_log_odds(options.doubt, n_arms), taus.shape[0]
    found = np.zeros((n_arms, FIRST_INDEX + 2 * n_taus))
    for row in range(n_arms):
        pair = int(score_table[row, STATISTICS])
        doubt, own = write_doubts(layout, counts, pair, log_odds)
        found[row, DOUBT_CHANCE], found[row, OWN_CHANCE] = doubt, 0.0 if by_particles else own
        found[row, BETA_WINS], found[row, BETA_LOSSES] = 1.0, 1.0
        if pair >= 0:
            found[row, BETA_WINS] += counts.pairs[pair, WINS]
            found[row, BETA_LOSSES] += counts.pairs[pair, LOSSES]
        for tau in range(n_taus):
            for part in range(2):
                if part == OWN and found[row, OWN_CHANCE] == 0.0:
                    continue
                found[row, FIRST_INDEX + part * n_taus + tau] = score_fused(
                    layout,
                    counts,
                    laws,
                    learned,
                    by_particles,
                    pair,
                    tau,
                    part == OWN,
                    reach,
                    scratch,
                )
    return found


@inline_kernel
def draw_arm(
    indices: Floats,
    taus: Floats,
    pairs: Floats,
    options: FusedOptions,
    score_table: Floats,
    stream: np.uint64,
) -> int:
    """Draw for one visitor among indices that are there already; gives the row that won.

    As ``find_best_arm`` would, draw by draw.
    """
    uniform, stream = draw_uniform(stream)
    tau, n_taus = draw_tau(taus, uniform), taus.shape[0]
    winner, best, best_free, best_tie = 0, -np.inf, -np.inf, -np.inf
    for row in range(score_table.shape[0]):
        if options.capped and score_table[row, UPPER] < best:
            mark_unscored(score_table, row, score_table.shape[0])
            break
        one, inner = draw_uniform(branch_stream(stream, int(score_table[row, POSITION])))
        two, inner = draw_uniform(inner)
        tie, inner = draw_uniform(inner)
        part = (
            PLAIN
            if one < indices[row, DOUBT_CHANCE]
            else OWN
            if two < indices[row, OWN_CHANCE]
            else POOLED
        )
        if part == PLAIN:
            pair = int(score_table[row, STATISTICS])
            index, _ = draw_beta(pairs[pair, WINS], pairs[pair, LOSSES], inner)
        else:
            index = indices[row, FIRST_INDEX + part * n_taus + tau]
        score, free = write_score(options, score_table, row, index, part, tau)
        if is_first(score, free, tie, best, best_free, best_tie):
            winner, best, best_free, best_tie = row, score, free, tie
    return winner


@compile_kernel
def draw_fused(
    seed: int,
    id_hash: int,
    indices: Floats,
    taus: Floats,
    pairs: Floats,
    options: FusedOptions,
    score_table: Floats,
) -> int:
    """Make one decision by what ``tabulate_indices`` wrote; gives the winner's row."""
    return draw_arm(indices, taus, pairs, options, score_table, open_stream(seed, id_hash))


@compile_kernel
def draw_many_fused(
    seed: int,
    id_hashes: Places,
    indices: Floats,
    taus: Floats,
    pairs: Floats,
    options: FusedOptions,
    score_table: Floats,
) -> tuple[Places, Floats]:
    """Make decisions by what ``tabulate_indices`` wrote; gives winners' rows and score tables.

    For several visitors of one context.
    """
    n = id_hashes.size
    winners, tables = np.empty(n, np.int64), np.empty((n, *score_table.shape))
    for i in range(n):
        tables[i] = score_table
        stream = open_stream(seed, id_hashes[i])
        winners[i] = draw_arm(indices, taus, pairs, options, tables[i], stream)
    return winners, tables


@compile_kernel
def decide_fused(
    seed: int,
    id_hash: int,
    layout: FusedLayout,
    counts: FusedCounts,
    laws: ParticleLaws,
    learned: ParticleCounts,
    by_particles: bool,  # noqa: FBT001
    options: FusedOptions,
    score_table: Floats,
) -> int:
    """Make one decision of the fused policy; gives the winner's row.

    Works out no more than it needs.
    """
    scratch = np.empty((6, layout.starts.size + layout.cells.shape[1]))
    return find_best_arm(
        layout,
        counts,
        laws,
        learned,
        by_particles,
        options,
        score_table,
        0,
        score_table.shape[0],
        open_stream(seed, id_hash),
        scratch,
    )


@compile_kernel
def decide_many_fused(
    seed: int,
    id_hashes: Places,
    layout: FusedLayout,
    counts: FusedCounts,
    laws: ParticleLaws,
    learned: ParticleCounts,
    by_particles: bool,  # noqa: FBT001
    options: FusedOptions,
    score_table: Floats,
) -> tuple[Places, Floats]:
    """Make decisions of the fused policy for several visitors of one context.

    Gives the winners' rows and the score tables.
    """
    n, n_arms = id_hashes.size, score_table.shape[0]
    scratch = np.empty((6, layout.starts.size + layout.cells.shape[1]))
    winners, tables = np.empty(n, np.int64), np.empty((n, *score_table.shape))
    for i in range(n):
        tables[i] = score_table
        winners[i] = find_best_arm(
            layout,
            counts,
            laws,
            learned,
            by_particles,
            options,
            tables[i],
            0,
            n_arms,
            open_stream(seed, id_hashes[i]),
            scratch,
        )
    return winners, tables

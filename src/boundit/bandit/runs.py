"""Whole runs: one compiled loop that plays every policy, with rewards at once or late.

The loop knows three functions of a policy's arrays, and Numba compiles it for the type of arrays
that it is given: ``choose_arm``, ``learn_reward`` and ``copy_arrays``. Each policy's file
registers its own three. Round t of a run with seed s is the decision that ``decide`` makes under
seed s and id ``str(t)``, bit for bit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.compiled import ByType, kernel, step
from boundit.bandit.draws import Floats, Ints, draw_uniform

ARM = 0xFFFFFFFF
"""The bits of a choice that are its column; a policy may keep a note of the round above them."""


class Rounds(NamedTuple):
    """What comes in whole runs. Arms are the policy's columns.

    ``contexts``, ``uniforms``: runs x rounds. A reward is the first of ``values`` whose end in
    ``ends``, contexts x arms x values, lies above the round's uniform number. ``held``: the arms
    that exploring plays; those that may be chosen in context c are
    ``open[starts[c]:starts[c + 1]]``. Late rewards: those of rounds ``order[run, :due[run, t]]``
    have come when round t is over (empty: at once), as ``defaults`` where these are numbers.
    What else a round shows: ``leaves[cell]``, with the cell drawn by ``shown_uniforms`` (nan or
    empty: nothing) from ``shown``, cumulative probabilities, contexts x arms x values x cells.
    """

    contexts: Ints
    uniforms: Floats
    seeds: NDArray[np.uint64]
    explore: float
    random: bool
    held: Ints
    open: Ints
    starts: Ints
    values: Floats
    ends: Floats
    order: Ints
    due: Ints
    defaults: Floats
    shown_uniforms: Floats
    shown: Floats
    leaves: Ints


def choose_arm(
    arrays: Any, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> Any:
    """Choose one of ``columns[start:stop]`` for a context by one uniform number."""


def learn_reward(arrays: Any, c: int, k: int, reward: float, leaf: int) -> Any:
    """Learn one reward, and the leaf of what else the round showed, -1 for nothing."""


def copy_arrays(arrays: Any) -> Any:
    """Copy what a run changes."""


_CHOOSE, _LEARN, _COPY = ByType(choose_arm), ByType(learn_reward), ByType(copy_arrays)


def register_runs(
    arrays: type,
    *,
    choose: Callable[..., Any],
    learn: Callable[..., Any],
    copy: Callable[..., Any],
) -> None:
    """Register the three functions by which whole runs play a policy with such arrays."""
    _CHOOSE.register(arrays, choose)
    _LEARN.register(arrays, learn)
    _COPY.register(arrays, copy)


def can_play(arrays: type) -> bool:
    """Tell whether whole runs of such arrays can be played."""
    return arrays in _CHOOSE


@step
def _find_leaf(rounds: Rounds, run: int, t: int, c: int, k: int, level: np.uint64) -> int:
    if rounds.shown_uniforms.size == 0 or np.isnan(rounds.shown_uniforms[run, t]):
        return -1
    cell, uniform = 0, rounds.shown_uniforms[run, t]
    while cell < rounds.shown.shape[3] - 1 and uniform >= rounds.shown[c, k, level, cell]:
        cell += 1
    leaf: int = rounds.leaves[cell]
    return leaf


@step
def _learn_round(arrays: Any, rounds: Rounds, run: int, t: int, choice: int) -> None:
    c, k, uniform, level = (
        rounds.contexts[run, t],
        choice & ARM,
        rounds.uniforms[run, t],
        np.uint64(0),
    )
    for i in range(rounds.values.size - 1):  # a sum: jumps would often be guessed wrong
        level += np.uint64(uniform >= rounds.ends[c, k, i])
    if rounds.defaults.size > 0 and not np.isnan(rounds.defaults[run, t]):
        learn_reward(arrays, c, choice, rounds.defaults[run, t], -1)
    else:
        leaf = _find_leaf(rounds, run, t, c, k, level)
        learn_reward(arrays, c, choice, rounds.values[level], leaf)


@kernel
def play_runs(start: Any, rounds: Rounds) -> Ints:
    """Play whole runs of a policy from one start; gives the choice of every run and round."""
    runs, n = rounds.contexts.shape
    pulls, explore = np.empty((runs, n), np.int64), rounds.explore
    held, open_ = rounds.held, rounds.open
    for run in range(runs):
        arrays, came = copy_arrays(start), 0
        for t in range(n):
            c = rounds.contexts[run, t]
            uniform = draw_uniform(rounds.seeds[run], t) if rounds.random else 1.0
            if uniform < explore:
                k = held[min(int(uniform / explore * held.size), held.size - 1)]
            else:
                rest = (uniform - explore) / (1.0 - explore)
                k = choose_arm(arrays, c, open_, rounds.starts[c], rounds.starts[c + 1], rest)
            pulls[run, t] = k
            if rounds.due.size == 0:
                _learn_round(arrays, rounds, run, t, k)
            else:
                while came < rounds.due[run, t]:
                    s = rounds.order[run, came]
                    _learn_round(arrays, rounds, run, s, pulls[run, s])
                    came += 1
    return pulls

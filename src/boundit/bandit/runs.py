"""Whole runs: one compiled loop that plays every policy, with rewards at once or late.

The loop knows two functions of a policy's arrays, and Numba compiles it for the type of arrays
that it is given: ``choose_arm`` and ``learn_reward``. Each policy's file registers its own. Round
t of a run with seed s is the decision that ``decide`` makes under
seed s and id ``str(t)``, bit for bit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.compiled import ByType, kernel, step
from boundit.bandit.ids import Floats, Ints, draw_uniform

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


_CHOOSE, _LEARN = ByType(choose_arm), ByType(learn_reward)


def register_runs(
    arrays: type, *, choose: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    """Register the two functions by which whole runs play a policy with such arrays."""
    _CHOOSE.register(arrays, choose)
    _LEARN.register(arrays, learn)


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


@kernel
def play_run(arrays: Any, rounds: Rounds, run: int, pulls: Ints) -> None:
    """Play one whole run of a policy that has learned nothing, and write all its choices."""
    explore, held, open_, came = rounds.explore, rounds.held, rounds.open, 0
    late, has_defaults = rounds.due.size > 0, rounds.defaults.size > 0
    for t in range(pulls.size):
        c = rounds.contexts[run, t]
        uniform = draw_uniform(rounds.seeds[run], t) if rounds.random else 1.0
        if uniform < explore:
            k = held[min(int(uniform / explore * held.size), held.size - 1)]
        else:
            rest = (uniform - explore) / (1.0 - explore)
            k = choose_arm(arrays, c, open_, rounds.starts[c], rounds.starts[c + 1], rest)
        pulls[t] = k
        due = rounds.due[run, t] if late else t + 1
        while came < due:
            s = rounds.order[run, came] if late else came
            c, k, level = rounds.contexts[run, s], pulls[s], np.uint64(0)
            for i in range(rounds.values.size - 1):  # a sum: jumps would often be guessed wrong
                level += np.uint64(rounds.uniforms[run, s] >= rounds.ends[c, k & ARM, i])
            if has_defaults and not np.isnan(rounds.defaults[run, s]):
                reward, leaf = rounds.defaults[run, s], -1
            else:
                reward, leaf = (
                    rounds.values[level],
                    _find_leaf(rounds, run, s, c, k & ARM, level),
                )
            learn_reward(arrays, c, k, reward, leaf)
            came += 1


def copy_arrays(arrays: Any) -> Any:
    """Copy a policy's arrays, and those of a part that is itself a tuple of arrays."""
    return arrays._make(
        copy_arrays(part)
        if isinstance(part, tuple)
        else np.copy(part)
        if np.ndim(part)
        else part
        for part in arrays
    )


def play_runs(start: Any, rounds: Rounds) -> Ints:
    """Play whole runs of a policy from one start; gives the choice of every run and round."""
    pulls = np.empty(rounds.contexts.shape, np.int64)
    for run, choices in enumerate(pulls):
        play_run(copy_arrays(start), rounds, run, choices)
    return pulls

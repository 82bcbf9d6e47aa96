"""Whole runs: one compiled loop that plays every policy, with rewards at once or late.

The loop knows three functions of a policy's arrays, and numba compiles it for the type of arrays that it is given:
`choose_arm`, `learn_reward` and `copy_arrays`. Each policy's file registers its own three. Round t of a run with seed s
is the decision that `decide` makes under seed s and id str(t), bit for bit.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from boundit.terms.bound import Context

from boundit.bandit.compiled import by_type, kernel, step
from boundit.bandit.draws import Floats, Ints, draw_uniform

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy


class Rounds(NamedTuple):
    """What comes in whole runs. Arms are the policy's columns.

    `contexts`, `uniforms`: runs x rounds; a reward is 1 where its uniform is below the arm's mean. `held`: the arms
    that exploring plays; those that may be chosen in context c are `open[starts[c]:starts[c + 1]]`. `means`: contexts x
    arms. Late rewards: rewards of rounds `order[run, :ends[run, t]]` have come when round t is over (empty: at once),
    as `defaults` where these are numbers. What else a round shows: `leaves[cell]`, with the cell drawn by
    `shown_uniforms` (nan or empty: nothing) from `shown`, cumulative probabilities, contexts x arms x rewards x cells.
    """

    contexts: Ints
    uniforms: Floats
    seeds: Any
    explore: float
    random: bool
    held: Ints
    open: Ints
    starts: Ints
    means: Floats
    order: Ints
    ends: Ints
    defaults: Floats
    shown_uniforms: Floats
    shown: Floats
    leaves: Ints

    @classmethod
    def of(
        cls,
        policy: "Policy",
        environment: Any,
        met: Sequence[Context],
        contexts: Ints,
        uniforms: Floats,
        seeds: Any,
        shown_uniforms: Floats | None,
        arrivals: tuple[Ints, Ints, Floats] | None,
    ) -> "Rounds":
        place = {arm: k for k, arm in enumerate(environment.arms)}
        arms = np.array([place.get(arm, 0) for arm in policy._arms], np.int64)
        found = [_find_open(policy, c) for c in met]
        side = environment.side_observation
        sees = side is not None and shown_uniforms is not None and bool(policy.observes)
        order, ends, defaults = arrivals or (np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64), np.zeros((0, 0)))
        return cls(
            np.ascontiguousarray(contexts, np.int64),
            np.ascontiguousarray(uniforms, np.float64),
            np.ascontiguousarray(seeds, np.uint64),
            policy.explore,
            policy.draws or policy.explore > 0,
            policy._held,
            np.concatenate(found),
            np.cumsum([0, *(columns.size for columns in found)]),
            np.ascontiguousarray(environment.means[:, arms], np.float64),
            order,
            ends,
            defaults,
            np.ascontiguousarray(shown_uniforms, np.float64) if sees else np.zeros((0, 0)),
            np.ascontiguousarray(side.ends[:, arms], np.float64) if sees else np.zeros((0, 0, 2, 0)),
            policy.list_leaves(side) if sees else np.zeros(0, np.int64),  # type: ignore[attr-defined]
        )


def _find_open(policy: "Policy", context: Context) -> Ints:
    """The columns that may be chosen in a context, by decreasing upper bound: index policies then look at few."""
    row = policy._rows.get(context, 0)
    found = policy.prior.find_open(context, row, policy._arms, policy._held)
    return found if policy.draws else found[np.argsort(-policy.prior.bounds[row, found, 1], kind="stable")]


def choose_arm(arrays, c, columns, start, stop, uniform):  # type: ignore[no-untyped-def]
    """Choose one of `columns[start:stop]` for a context by one uniform number, which index policies do not need."""


def learn_reward(arrays, c, k, reward, leaf):  # type: ignore[no-untyped-def]
    """Learn one reward from 0 to 1 and the leaf of what else the round showed, -1 for nothing."""


def copy_arrays(arrays):  # type: ignore[no-untyped-def]
    """Copy what a run changes."""


register_choose, register_learn, register_copy = by_type(choose_arm), by_type(learn_reward), by_type(copy_arrays)


@step
def _find_leaf(rounds: Rounds, run: int, t: int, c: int, k: int, reward: int) -> int:
    if rounds.shown_uniforms.size == 0 or np.isnan(rounds.shown_uniforms[run, t]):
        return -1
    cell = 0
    while cell < rounds.shown.shape[3] - 1 and rounds.shown_uniforms[run, t] >= rounds.shown[c, k, reward, cell]:
        cell += 1
    return rounds.leaves[cell]


@step
def _learn_round(arrays, rounds: Rounds, run: int, t: int, k: int) -> None:  # type: ignore[no-untyped-def]
    c = rounds.contexts[run, t]
    reward = 1 if rounds.uniforms[run, t] < rounds.means[c, k] else 0
    if rounds.defaults.size > 0 and not np.isnan(rounds.defaults[run, t]):
        learn_reward(arrays, c, k, rounds.defaults[run, t], -1)
    else:
        learn_reward(arrays, c, k, float(reward), _find_leaf(rounds, run, t, c, k, reward))


@kernel
def play_runs(start, rounds: Rounds) -> Ints:  # type: ignore[no-untyped-def]
    """Play whole runs of a policy from one start; gives the column pulled in every run and round."""
    runs, n = rounds.contexts.shape
    pulls, explore, held, open_ = np.empty((runs, n), np.int64), rounds.explore, rounds.held, rounds.open
    for run in range(runs):
        arrays, came = copy_arrays(start), 0
        for t in range(n):
            c = rounds.contexts[run, t]
            uniform = draw_uniform(rounds.seeds[run], t) if rounds.random else 1.0
            if uniform < explore:
                k = held[min(int(uniform / explore * held.size), held.size - 1)]
            else:
                k = choose_arm(arrays, c, open_, rounds.starts[c], rounds.starts[c + 1], (uniform - explore) / (1.0 - explore))
            pulls[run, t] = k
            if rounds.ends.size == 0:
                _learn_round(arrays, rounds, run, t, k)
            else:
                while came < rounds.ends[run, t]:
                    s = rounds.order[run, came]
                    _learn_round(arrays, rounds, run, s, pulls[run, s])
                    came += 1
    return pulls

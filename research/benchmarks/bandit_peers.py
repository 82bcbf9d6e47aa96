"""Other bandit libraries, each behind the same small door: decide, then learn, for one visitor.

All get four arms and, where they take features, the five of the paper's world. What they do
differs: MABWiser, river and contextualbandits have LinUCB with a model for each arm, as ours;
they invert a matrix where we update one. Vowpal Wabbit has no LinUCB: ``vw optimist`` is its
nearest, regcb, and ``vw greedy`` its cheapest exploration, one linear model by gradient steps
and no matrix at all. None of them keeps ids, checks rewards or says why.
"""

from collections.abc import Callable, Sequence
from importlib import import_module

import numpy as np

Step = Callable[[tuple[int, int], float], None]
"""Choose an arm for a context and learn what it earned; all arms earn the same here."""


def by_mabwiser() -> Step:
    """Contexts as one-row arrays, as it asks for them; fitted once on nothing."""
    module = import_module("mabwiser.mab")
    policy = module.MAB([0, 1, 2, 3], module.LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0))
    policy.fit([0, 1, 2, 3], [0, 0, 0, 0], np.zeros((4, 3)))

    def step(context: tuple[int, int], reward: float) -> None:
        row = np.array([[1.0, *context]])
        policy.partial_fit([policy.predict(row)], [reward], row)

    return step


def by_river() -> Step:
    """Contexts as dictionaries."""
    policy = import_module("river.bandit").LinUCBDisjoint(alpha=1.0, seed=1)

    def step(context: tuple[int, int], reward: float) -> None:
        features = {"one": 1.0, "u1": context[0], "u2": context[1]}
        arm = policy.pull([0, 1, 2, 3], context=features)
        policy.update(arm, features, reward)

    return step


def by_contextualbandits() -> Step:
    """Contexts as one-row arrays."""
    module = import_module("contextualbandits.online")
    policy = module.LinUCB(nchoices=4, alpha=1.0, beta_prior=None)
    policy.fit(np.ones((4, 3)), np.arange(4), np.zeros(4))

    def step(context: tuple[int, int], reward: float) -> None:
        row = np.array([[1.0, *context]])
        arm = policy.predict(row)
        policy.partial_fit(row, np.asarray(arm), np.array([reward]))

    return step


def by_vw_optimist() -> Step:
    """Regcb with optimism, arms as feature lines of text."""
    vw = import_module("vowpalwabbit").Workspace("--cb_explore_adf --regcbopt --quiet")
    lines = [f"|a x1:{a} x2:{b}" for a in (0, 1) for b in (0, 1)]

    def step(context: tuple[int, int], reward: float) -> None:
        shared = f"shared |u u1:{context[0]} u2:{context[1]}"
        chances = vw.predict([shared, *lines])
        arm = _likeliest(chances)
        told = [*lines]
        told[arm] = f"0:{-reward}:{chances[arm]} {lines[arm]}"
        vw.learn([shared, *told])

    return step


def by_vw_greedy() -> Step:
    """Epsilon-greedy over four numbered arms, one line of text a visitor."""
    vw = import_module("vowpalwabbit").Workspace("--cb_explore 4 --epsilon 0.1 --quiet")

    def step(context: tuple[int, int], reward: float) -> None:
        line = f"| u1:{context[0]} u2:{context[1]}"
        chances = vw.predict(line)
        arm = _likeliest(chances)
        vw.learn(f"{arm + 1}:{-reward}:{chances[arm]} {line}")

    return step


def _likeliest(chances: Sequence[float]) -> int:
    return max(range(len(chances)), key=chances.__getitem__)


PEERS: dict[str, Callable[[], Step]] = {
    "mabwiser": by_mabwiser,
    "river": by_river,
    "contextualbandits": by_contextualbandits,
    "vw optimist": by_vw_optimist,
    "vw greedy": by_vw_greedy,
}

"""Batches of visitors and rewards against a loop over them, in one run.

Both sides decide for the same visitors under the same ids and learn the same rewards; the last
column says whether decisions and states are the same.
"""

import time
from collections.abc import Callable

import numpy as np

import boundit as bd
from boundit.bandit.policy import Policy

N_VISITORS = 10_000
ARMS = [(x1, x2) for x1 in (0, 1) for x2 in (0, 1)]
POLICIES: dict[str, Callable[[], Policy]] = {
    "UCB": lambda: bd.UCB(arms=ARMS, context=["U1", "U2"], horizon=N_VISITORS, seed=0),
    "TS": lambda: bd.TS(arms=ARMS, context=["U1", "U2"], seed=0),
    "LinUCB": lambda: bd.LinUCB(arms=ARMS, context=["U1", "U2"], seed=0),
    "LinTS": lambda: bd.LinTS(arms=ARMS, context=["U1", "U2"], seed=0),
    "Fused": lambda: bd.Fused(arms=ARMS, context=["U1", "U2"], seed=0),
    "OAM": lambda: bd.OAM(arms=ARMS, context=["U1", "U2"], horizon=N_VISITORS, seed=0),
}


def compare(name: str, contexts: list[tuple[float, ...]], rewards: list[float]) -> None:
    """Print what a decision and a reward cost in a loop and in a batch, in microseconds."""
    loop, batch = POLICIES[name](), POLICIES[name]()
    for policy in (loop, batch):  # what was never played is a special case
        policy.learn_many(policy.decide_many(contexts[:100]), rewards[:100])
        policy.learn(policy.decide(contexts[0]), 1.0)
    times = [time.process_time()]
    one = [loop.decide(context) for context in contexts]
    times.append(time.process_time())
    many = batch.decide_many(contexts)
    times.append(time.process_time())
    for decision, reward in zip(one, rewards, strict=True):
        loop.learn(decision, reward)
    times.append(time.process_time())
    batch.learn_many(many, rewards)
    times.append(time.process_time())
    each = np.diff(times) * 1e6 / len(contexts)
    shown = "".join(f"{a:>10.2f}{b:>8.2f}{a / b:>7.1f}x" for a, b in (each[:2], each[2:]))
    same = list(many) == one and loop.state() == batch.state()
    print(f"{name:<10}{shown}{'same' if same else 'DIFFERENT':>11}", flush=True)


def run() -> None:
    rng = np.random.default_rng(0)
    rewards = rng.random(N_VISITORS).round().tolist()
    few = [tuple(row) for row in rng.integers(2, size=(N_VISITORS, 2)).tolist()]
    each = [tuple(row) for row in rng.random((N_VISITORS, 2)).tolist()]
    for title, contexts, names in (
        (f"{N_VISITORS:,} visitors of 4 contexts", few, tuple(POLICIES)),
        (f"{N_VISITORS // 4:,} visitors, a context each", each[::4], ("LinUCB", "LinTS")),
    ):
        print(f"{title}: microseconds in a loop, in a batch, and their ratio")
        print(f"{'':<10}{'decide':>10}{'':>16}{'learn':>9}")
        for name in names:
            n = len(contexts) if name != "OAM" else 1_000
            compare(name, contexts[:n], rewards[:n])

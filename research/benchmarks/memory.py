"""What a policy keeps while it runs: memory and state after 10^5, 10^6 and 10^7 decisions.

Through ``decide`` and ``learn``, one visitor after another, each decision with an id of its
own. Neither may grow once as many rewards came as the policy remembers ids. The numbers of
decisions may be given: ``python -m research.benchmarks.memory 100000 1000000``.
"""

import gc
import json
import random
import resource
import sys
from collections.abc import Iterator, Sequence

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS

DECISIONS = (100_000, 1_000_000, 10_000_000)
ARMS = [(a, b) for a in (0, 1) for b in (0, 1)]
_UNIT = 1 if sys.platform == "darwin" else 1024
"""What the peak of resident memory is counted in, in bytes."""


def play(policy: Policy, counts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Play on up to each count; gives it, the peak of memory and the size of the state."""
    rng, done = random.Random(0), 0
    for count in counts:
        for _ in range(done, count):
            decision = policy.decide((rng.getrandbits(1), rng.getrandbits(1)))
            policy.learn(decision, float(rng.random() < 0.4 + 0.2 * (decision.arm == (1, 0))))
        done = count
        gc.collect()
        size = len(json.dumps(policy.state()))
        yield count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT, size


def run(counts: Sequence[int] = DECISIONS) -> None:
    """Print peak and state of two policies, one after the other."""
    print("memory of a policy: peak of the process, and its state as JSON, in MB")
    print(f"{'policy':<10}{'decisions':>14}{'peak':>10}{'state':>10}")
    for policy in (
        LinUCB(arms=ARMS, context=["U1", "U2"]),
        TS(arms=ARMS, context=["U1", "U2"], seed=1),
    ):
        for count, peak, size in play(policy, counts):
            name = type(policy).__name__
            print(f"{name:<10}{count:>14,}{peak / 1e6:>10.1f}{size / 1e6:>10.2f}", flush=True)


if __name__ == "__main__":
    run([int(text.replace("_", "")) for text in sys.argv[1:]] or DECISIONS)

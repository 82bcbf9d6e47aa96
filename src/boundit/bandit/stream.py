"""Luck that a retry meets again: it hangs on the seed, what was learned and who is asking."""

import json
from hashlib import sha256

import numpy as np

from boundit.bandit.codec import spelled_values
from boundit.terms.bound import Context


def stream(seed: int, events: int, context: Context) -> np.random.Generator:
    """Open the stream of one decision.

    Two visitors with the same context, with nothing learned between them, meet the same luck:
    that is what makes a retry safe.

    >>> stream(0, 7, ("new",)).random() == stream(0, 7, ("new",)).random()
    True
    """
    spelled = json.dumps(spelled_values(context), sort_keys=True)
    who = int.from_bytes(sha256(spelled.encode()).digest()[:16], "big")
    return np.random.default_rng([seed, events, who])

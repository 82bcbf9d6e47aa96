"""The seed of one policy in one run, in words of its own."""

from hashlib import sha256

from numpy.random import SeedSequence


def derive_policy_seed(name: str, *, run: int, seed: int) -> int:
    digest = sha256(name.encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in (0, 4)]
    return int(SeedSequence(seed, spawn_key=(run, 1, *words)).generate_state(1)[0])

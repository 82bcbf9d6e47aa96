"""One chunk of runs: who comes, with what luck, and what every policy makes of them.

A visitor brings a context, drawn from the whole population, and a number between 0 and 1, the
luck; an arm pays 1 to whoever's luck lies below its mean. So two policies that choose alike
earn alike, and their difference is theirs alone. Each run has its own stream of randomness, and
each policy a seed of its own by its name: more policies or runs leave the others as they were.
What else a round shows, to those who look, hangs on a second luck from a stream of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from threading import Event

import numpy as np
from numpy.random import SeedSequence, default_rng

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.policy import Policy
from boundit.simulation.errors import PulledElsewhere
from boundit.simulation.world import World

_WORLD, _POLICIES, _SEEING = 0, 1, 2


class Stopped(Exception):
    """Somebody else has ended the simulation."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some runs of a simulation, and the draws that all policies share in them.

    Whether policies are told what they can use of what is ``observed`` besides the reward.
    """

    world: World
    seed: int
    runs: range
    contexts: Places
    uniforms: Floats
    observed: bool = False

    @classmethod
    def draw(
        cls, world: World, seed: int, runs: range, rounds: int, *, observed: bool = False
    ) -> "Chunk":
        """Let the visitors of some runs come."""
        chances = np.empty((2, len(runs), rounds))
        for i, run in enumerate(runs):
            rng = default_rng(SeedSequence(seed, spawn_key=(run, _WORLD)))
            chances[0, i], chances[1, i] = rng.random(rounds), rng.random(rounds)
        ends = world.shares.cumsum()
        places = np.searchsorted(ends, chances[0], side="right").clip(max=len(ends) - 1)
        return cls(world, seed, runs, places.astype(np.int64), chances[1], observed)

    def compute_regret(self, policies: Mapping[str, Policy], at: Places, stop: Event) -> Floats:
        """The regret of each policy in each run, at some rounds."""
        means = self.world.environment.means
        best = means.max(axis=1)[self.contexts]
        found = np.empty((len(policies), len(self.runs), len(at)))
        for i, (name, policy) in enumerate(policies.items()):
            pulls = self.play(name, policy, stop)
            lost = best - means[self.contexts, pulls]
            found[i] = lost.cumsum(axis=1)[:, at - 1]
        return found

    def play(self, name: str, policy: Policy, stop: Event) -> Places:
        """The place of every arm that a policy pulls, runs x rounds."""
        if stop.is_set():
            raise Stopped
        seeds = self._derive_seeds(name)
        stage, found = self._play_compiled(policy, seeds)
        for i in np.flatnonzero(found[:, 0] < 0).tolist():
            own = self._bind(policy, seed=int(seeds[i]))
            found[i] = self._play_round_by_round(name, own, stage, i, stop)
        return found

    def find_uncompiled(self, policies: Mapping[str, Policy]) -> list[str]:
        """Name the policies that play some of these runs round by round, which takes long."""
        played = {
            n: self._play_compiled(p, self._derive_seeds(n))[1] for n, p in policies.items()
        }
        return [name for name, found in played.items() if (found[:, 0] < 0).any()]

    def _play_compiled(self, policy: Policy, seeds: Seeds) -> tuple[FiniteEnvironment, Places]:
        """What a policy meets, and the arms it pulls in compiled code; -1 in other runs."""
        player = self._bind(policy, seed=None)
        stage = self.world.make_environment(player.observes if self.observed else ())
        given = stage, self.contexts, self.uniforms, seeds
        found = (
            player.play(*given, self.observation_uniforms)
            if stage.shows
            else player.play(*given)
        )
        if found is None:
            found = np.full(self.contexts.shape, -1, dtype=np.int64)
        return stage, found

    def _play_round_by_round(
        self, name: str, player: Policy, stage: FiniteEnvironment, i: int, stop: Event
    ) -> Places:
        """One run through ``decide`` and ``learn``."""
        pulls = np.empty(self.contexts.shape[1], dtype=np.int64)
        place = {arm: j for j, arm in enumerate(stage.arms)}
        rounds = zip(self.contexts[i].tolist(), self.uniforms[i].tolist(), strict=True)
        for t, (visitor, chance) in enumerate(rounds):
            if stop.is_set():
                raise Stopped
            decision = player.decide(stage.contexts[visitor], id=str(t))
            if decision.arm not in place:
                raise PulledElsewhere(name, decision.arm, stage.arms)
            pulls[t] = arm = place[decision.arm]
            reward, observed = float(chance < stage.means[visitor, arm]), None
            if stage.shows is not None:
                glance = float(self.observation_uniforms[i, t])
                observed = stage.shows.observed(visitor, arm, reward, glance)
            player.learn(decision, reward, observed=observed)
        return pulls

    @cached_property
    def observation_uniforms(self) -> Floats:
        """The luck of what rounds show besides the reward."""
        streams = (SeedSequence(self.seed, spawn_key=(run, _SEEING)) for run in self.runs)
        return np.array([default_rng(s).random(self.contexts.shape[1]) for s in streams])

    def _bind(self, policy: Policy, *, seed: int | None) -> Policy:
        return policy.fresh(
            arms=self.world.environment.arms,
            context=self.world.query.context,
            horizon=self.contexts.shape[1],
            seed=seed,
        )

    def _derive_seeds(self, name: str) -> Seeds:
        """One seed for each run, which hangs on the policy's name and on no other policy."""
        word = np.frombuffer(sha256(name.encode()).digest()[:8], dtype="<u4").tolist()
        streams = (SeedSequence(self.seed, spawn_key=(r, _POLICIES, *word)) for r in self.runs)
        return np.array([int(s.generate_state(1)[0]) for s in streams], dtype=np.uint64)

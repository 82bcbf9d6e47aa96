"""One chunk of runs: which contexts come, by which chance, and what every policy makes of them.

A round brings a context, drawn from the whole population, and a uniform number from 0 to 1; an
arm pays 1 where the number lies below its mean. So two policies that choose alike earn alike,
and their difference is theirs alone. Each run has its own stream of randomness, and each policy
a seed of its own by its name: more policies or runs leave the others as they were. What else a
round shows, to those who look, hangs on a second uniform number from a stream of its own, and
whether they can look on a third.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import isnan
from threading import Event

import numpy as np
from numpy.random import SeedSequence, default_rng

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.policy import Policy
from boundit.simulation.errors import PulledElsewhere
from boundit.simulation.world import World

# The streams of randomness of a run: what all policies share, each policy's own, what rounds
# show besides, and whether they do.
_ENVIRONMENT, _POLICIES, _OBSERVATIONS, _SIGHTS = 0, 1, 2, 3


class Stopped(Exception):
    """Somebody else has ended the simulation."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some runs of a simulation, and the draws that all policies share in them.

    ``contexts`` are places in the world's environment and ``uniforms`` what decides rewards,
    both runs x rounds. Policies are told what they can use of what shows besides the reward in
    a share ``observed`` of the rounds.
    """

    world: World
    seed: int
    runs: range
    contexts: Places
    uniforms: Floats
    observed: float = 0.0

    @classmethod
    def draw(
        cls, world: World, seed: int, runs: range, rounds: int, *, observed: float = 0.0
    ) -> "Chunk":
        """Draw for some runs who comes in each round, and the number that decides its reward.

        Called by ``_play_chunks`` for every chunk, in a worker.
        """
        context_uniforms, uniforms = np.empty((2, len(runs), rounds))
        for i, run in enumerate(runs):
            rng = default_rng(SeedSequence(seed, spawn_key=(run, _ENVIRONMENT)))
            rng.random(out=context_uniforms[i])
            rng.random(out=uniforms[i])
        ends = world.shares.cumsum()
        # The last end may lie below 1 by rounding; without it no uniform goes past the end.
        contexts = np.searchsorted(ends[:-1], context_uniforms, side="right")
        return cls(world, seed, runs, contexts.astype(np.int64, copy=False), uniforms, observed)

    def compute_regret(self, policies: Mapping[str, Policy], at: Places, stop: Event) -> Floats:
        """Play every policy and add up its regret; gives policies x runs x the rounds ``at``.

        ``stop`` is set when a Ctrl-C has ended the simulation. Called by ``_play_chunks`` for
        every chunk.
        """
        means = self.world.environment.means
        losses = means.max(axis=1, keepdims=True) - means
        found = np.empty((len(policies), len(self.runs), len(at)))
        for i, (name, policy) in enumerate(policies.items()):
            lost = losses[self.contexts, self.play(name, policy, stop)]
            found[i] = lost.cumsum(axis=1, out=lost)[:, at - 1]
        return found

    def play(self, name: str, policy: Policy, stop: Event) -> Places:
        """Play all runs of the chunk with one policy; gives the arm of every round.

        Arms are places in the environment, runs x rounds. Called by ``Chunk.compute_regret``
        for every policy, and by studies that follow one.
        """
        if stop.is_set():
            raise Stopped
        seeds = self._derive_seeds(name)
        environment, pulls = self._play_compiled(policy, seeds)
        for i in np.flatnonzero(pulls[:, 0] < 0).tolist():
            own = self._bind_policy(policy, seed=int(seeds[i]))
            pulls[i] = self._play_round_by_round(name, own, environment, i, stop)
        return pulls

    def find_uncompiled(self, policies: Mapping[str, Policy]) -> list[str]:
        """Name the policies that play some of these runs round by round, which takes long.

        Called by ``_play_chunks`` on a sample, to choose how many runs a chunk has.
        """
        played = {
            n: self._play_compiled(p, self._derive_seeds(n))[1] for n, p in policies.items()
        }
        return [name for name, pulls in played.items() if (pulls[:, 0] < 0).any()]

    def _play_compiled(self, policy: Policy, seeds: Seeds) -> tuple[FiniteEnvironment, Places]:
        """Play all runs of the chunk in compiled code, as far as a policy can.

        Gives the environment it played in and the arms it pulled, runs x rounds; runs that it
        cannot play so have -1. Called by ``Chunk.play`` and ``Chunk.find_uncompiled`` for every
        policy.
        """
        player = self._bind_policy(policy, seed=None)
        environment = (
            self.world.make_environment(player.observes)
            if self.observed
            else self.world.environment
        )
        given = environment, self.contexts, self.uniforms, seeds
        pulls = (
            player.play(*given, self.observation_uniforms)
            if environment.side_observation
            else player.play(*given)
        )
        if pulls is None:
            pulls = np.full(self.contexts.shape, -1, dtype=np.int64)
        return environment, pulls

    def _play_round_by_round(
        self, name: str, player: Policy, environment: FiniteEnvironment, i: int, stop: Event
    ) -> Places:
        """Play one run through ``decide`` and ``learn``; gives the arm of every round.

        Called by ``Chunk.play`` for every run that was not played in compiled code.
        """
        pulls = np.empty(self.contexts.shape[1], dtype=np.int64)
        place = {arm: j for j, arm in enumerate(environment.arms)}
        side = environment.side_observation
        rounds = zip(self.contexts[i].tolist(), self.uniforms[i].tolist(), strict=True)
        for t, (context, uniform) in enumerate(rounds):
            if stop.is_set():
                raise Stopped
            decision = player.decide(environment.contexts[context], id=str(t))
            if decision.arm not in place:
                raise PulledElsewhere(name, decision.arm, environment.arms)
            pulls[t] = arm = place[decision.arm]
            reward, observed = float(uniform < environment.means[context, arm]), None
            second = float(self.observation_uniforms[i, t]) if side else np.nan
            if side and not isnan(second):
                observed = side.observe(context, arm, reward, second)
            player.learn(decision, reward, observed=observed)
        return pulls

    @cached_property
    def observation_uniforms(self) -> Floats:
        """The uniforms that decide what rounds show besides the reward, runs x rounds.

        It is nan in rounds that show nothing. Used by ``Chunk._play_compiled`` and
        ``Chunk._play_round_by_round`` where policies are told of it.
        """
        found = self._draw_uniforms(_OBSERVATIONS)
        if self.observed < 1:
            found[self._draw_uniforms(_SIGHTS) >= self.observed] = np.nan
        return found

    def _draw_uniforms(self, stream: int) -> Floats:
        """Draw a uniform number for every run and round from one of the runs' streams.

        Called by ``Chunk.observation_uniforms``.
        """
        streams = (SeedSequence(self.seed, spawn_key=(r, stream)) for r in self.runs)
        return np.array([default_rng(s).random(self.contexts.shape[1]) for s in streams])

    def _bind_policy(self, policy: Policy, *, seed: int | None) -> Policy:
        """Make a fresh policy that knows the world's arms and contexts, and how long it plays.

        Called by ``Chunk._play_compiled`` and, for a run of its own, by ``Chunk.play``.
        """
        return policy.fresh(
            arms=self.world.environment.arms,
            context=self.world.query.context,
            horizon=self.contexts.shape[1],
            seed=seed,
        )

    def _derive_seeds(self, name: str) -> Seeds:
        """Derive a seed for each run from the simulation's seed and the policy's name.

        Other policies leave it as it is. Called by ``Chunk.play`` and
        ``Chunk.find_uncompiled``.
        """
        word = np.frombuffer(sha256(name.encode()).digest()[:8], dtype="<u4").tolist()
        streams = (SeedSequence(self.seed, spawn_key=(r, _POLICIES, *word)) for r in self.runs)
        return np.array([int(s.generate_state(1)[0]) for s in streams], dtype=np.uint64)

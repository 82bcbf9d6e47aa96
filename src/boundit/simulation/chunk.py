"""One chunk of runs: which contexts come, by which chance, and what every policy makes of them.

A round brings a context, drawn from the whole population, and a uniform number from 0 to 1; an
arm pays 1 where the number lies below its mean. So two policies that choose alike earn alike,
and their difference is theirs alone. Each run has its own stream of randomness, and each policy
a seed of its own by its name: more policies or runs leave the others as they were. What else a
round shows, to those who look, hangs on a second uniform number from a stream of its own, and
whether they can look on a third. How late a reward comes, and whether, hangs on two more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from math import isnan
from threading import Event

import numpy as np
from numpy.random import SeedSequence, default_rng

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.decision import Decision
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.policy import Policy
from boundit.simulation.errors import PulledElsewhere
from boundit.simulation.feedback.arrivals import Arrivals, schedule_rewards
from boundit.simulation.feedback.feedback import Feedback
from boundit.simulation.options import PolicySource, make_policy
from boundit.simulation.world import World

# The streams of randomness of a run: what all policies share, each policy's own, what rounds
# show besides, whether they do, how late rewards come, and whether.
_ENVIRONMENT, _POLICIES, _OBSERVATIONS, _SIGHTS, _DELAYS, _LOSSES = range(6)


class Stopped(Exception):
    """Somebody else has ended the simulation."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some runs of a simulation, and the draws that all policies share in them.

    ``contexts`` are places in the world's environment and ``uniforms`` what decides rewards,
    both runs x rounds. Policies are told what they can use of what shows besides the reward in
    a share ``observed`` of the rounds. ``feedback`` is when they learn rewards, if not at once.
    """

    world: World
    seed: int
    runs: range
    contexts: Places
    uniforms: Floats
    observed: float = 0.0
    feedback: Feedback | None = None

    @classmethod
    def draw(
        cls,
        world: World,
        seed: int,
        runs: range,
        rounds: int,
        *,
        observed: float = 0.0,
        feedback: Feedback | None = None,
    ) -> "Chunk":
        """Draw for some runs who comes in each round, and the number that decides its reward."""
        context_uniforms, uniforms = np.empty((2, len(runs), rounds))
        for i, run in enumerate(runs):
            rng = default_rng(SeedSequence(seed, spawn_key=(run, _ENVIRONMENT)))
            rng.random(out=context_uniforms[i])
            rng.random(out=uniforms[i])
        ends = world.shares.cumsum()
        # The last end may lie below 1 by rounding; without it no uniform goes past the end.
        contexts = np.searchsorted(ends[:-1], context_uniforms, side="right")
        met = contexts.astype(np.int64, copy=False)
        return cls(world, seed, runs, met, uniforms, observed, feedback)

    def compute_regret(
        self, policies: Mapping[str, PolicySource], at: Places, stop: Event
    ) -> Floats:
        """Play every policy and add up its regret; gives policies x runs x the rounds ``at``.

        ``stop`` is set when a Ctrl-C has ended the simulation.
        """
        means = self.world.environment.means
        losses = means.max(axis=1, keepdims=True) - means
        found = np.empty((len(policies), len(self.runs), len(at)))
        for i, (name, policy) in enumerate(policies.items()):
            lost = losses[self.contexts, self.play(name, policy, stop)]
            found[i] = lost.cumsum(axis=1, out=lost)[:, at - 1]
        return found

    def play(self, name: str, source: PolicySource, stop: Event) -> Places:
        """Play all runs of the chunk with one policy; gives the arm of every round.

        Arms are places in the environment, runs x rounds. Policies that are made for each run
        play their runs one by one.
        """
        if isinstance(source, Policy) or not callable(source):
            return self.play_copies(name, source, stop)
        pulls = np.empty(self.contexts.shape, dtype=np.int64)
        for i, run in enumerate(self.runs):
            policy = make_policy(name, source, run)
            pulls[i] = self._cut_run(i).play_copies(name, policy, stop)
        return pulls

    def _cut_run(self, i: int) -> "Chunk":
        """Make a chunk of one run of this one."""
        runs, own = self.runs[i : i + 1], slice(i, i + 1)
        return replace(
            self, runs=runs, contexts=self.contexts[own], uniforms=self.uniforms[own]
        )

    def play_copies(self, name: str, policy: Policy, stop: Event) -> Places:
        """Play all runs of the chunk with copies of a policy; gives the arm of every round."""
        if stop.is_set():
            raise Stopped
        seeds = self._derive_seeds(name)
        environment, pulls = self._play_compiled(policy, seeds)
        if pulls is not None:
            return pulls
        own = (self._bind_policy(policy, seed=int(seed)) for seed in seeds)
        return np.array(
            [
                self._play_round_by_round(name, player, environment, i, stop)
                for i, player in enumerate(own)
            ]
        )

    def find_uncompiled(self, policies: Mapping[str, PolicySource]) -> list[str]:
        """Name the policies that play these runs round by round, which takes long."""
        played = {
            name: self._play_compiled(
                make_policy(name, source, self.runs[0]), self._derive_seeds(name)
            )[1]
            for name, source in policies.items()
        }
        return [name for name, pulls in played.items() if pulls is None]

    def _play_compiled(
        self, policy: Policy, seeds: Seeds
    ) -> tuple[FiniteEnvironment, Places | None]:
        """Play all runs of the chunk in compiled code, if a policy can.

        Gives the environment it played in and the arms it pulled, runs x rounds.
        """
        player = self._bind_policy(policy, seed=None)
        environment = (
            self.world.make_environment(player.observes)
            if self.observed
            else self.world.environment
        )
        given = environment, self.contexts, self.uniforms, seeds
        if self.feedback is not None:
            pulls = None
        elif environment.side_observation:
            pulls = player.play(*given, self.observation_uniforms)
        else:
            pulls = player.play(*given)
        return environment, pulls

    def _play_round_by_round(
        self, name: str, player: Policy, environment: FiniteEnvironment, i: int, stop: Event
    ) -> Places:
        """Play one run through ``decide`` and ``learn``; gives the arm of every round."""
        pulls = np.empty(self.contexts.shape[1], dtype=np.int64)
        place = {arm: j for j, arm in enumerate(environment.arms)}
        arrivals, came = self._schedule_run(i), 0
        expected, waiting = set(arrivals.order.tolist()), dict[int, Decision]()
        for t, context in enumerate(self.contexts[i].tolist()):
            if stop.is_set():
                raise Stopped
            decision = player.decide(environment.contexts[context], id=str(t))
            if decision.arm not in place:
                raise PulledElsewhere(name, decision.arm, environment.arms)
            pulls[t] = place[decision.arm]
            if t in expected:
                waiting[t] = decision
            for s in arrivals.order[came : arrivals.ends[t]].tolist():
                reward, observed = float(arrivals.defaults[s]), None
                # A default comes alone: what else was to be seen would come with the reward.
                if isnan(reward):
                    reward, observed = self._draw_reward(environment, i, s, int(pulls[s]))
                player.learn(waiting.pop(s), reward, observed=observed)
            came = int(arrivals.ends[t])
        return pulls

    def _draw_reward(
        self, environment: FiniteEnvironment, i: int, t: int, arm: int
    ) -> tuple[float, Mapping[str, object] | None]:
        """Look up the reward of a round that was played, and what else the round shows."""
        context, side = int(self.contexts[i, t]), environment.side_observation
        reward = float(self.uniforms[i, t] < environment.means[context, arm])
        if side is None or isnan(second := float(self.observation_uniforms[i, t])):
            return reward, None
        return reward, side.observe(context, arm, reward, second)

    def _schedule_run(self, i: int) -> Arrivals:
        """Work out when each reward of one run comes, for all policies alike."""
        if self.feedback is None:
            return Arrivals.at_once(self.contexts.shape[1])
        run = self.runs[i]
        return schedule_rewards(
            self.feedback, self._draw_run(_DELAYS, run), self._draw_run(_LOSSES, run)
        )

    @cached_property
    def observation_uniforms(self) -> Floats:
        """The uniforms that decide what rounds show besides the reward, runs x rounds.

        It is nan in rounds that show nothing.
        """
        found = self._draw_uniforms(_OBSERVATIONS)
        if self.observed < 1:
            found[self._draw_uniforms(_SIGHTS) >= self.observed] = np.nan
        return found

    def _draw_uniforms(self, stream: int) -> Floats:
        """Draw a uniform number for every run and round from one of the runs' streams."""
        return np.array([self._draw_run(stream, run) for run in self.runs])

    def _draw_run(self, stream: int, run: int) -> Floats:
        """Draw a uniform number for every round of a run from one of its streams."""
        rng = default_rng(SeedSequence(self.seed, spawn_key=(run, stream)))
        return rng.random((self.contexts.shape[1],))

    def _bind_policy(self, policy: Policy, *, seed: int | None) -> Policy:
        """Make a fresh policy that knows the world's arms and contexts, and how long it plays."""
        names, levels = self.world.query.context, self.world.levels
        context = {name: self.world.list_levels(name) for name in names} if levels else names
        return policy.fresh(
            arms=self.world.environment.arms,
            context=context,
            horizon=self.contexts.shape[1],
            seed=seed,
        )

    def _derive_seeds(self, name: str) -> Seeds:
        """Derive a seed for each run from the simulation's seed and the policy's name.

        Other policies leave it as it is.
        """
        word = np.frombuffer(sha256(name.encode()).digest()[:8], dtype="<u4").tolist()
        streams = (SeedSequence(self.seed, spawn_key=(r, _POLICIES, *word)) for r in self.runs)
        return np.array([int(s.generate_state(1)[0]) for s in streams], dtype=np.uint64)

"""Some runs of a simulation in one environment: what comes in each round, and who plays it.

A round brings a context, drawn from the population, and a uniform number that decides the reward
of whichever arm is chosen: policies that choose alike are paid alike. Each run has streams of
random numbers of its own, and each policy a seed of its own by its name, so that more policies
or runs leave the others as they were.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import isnan
from threading import Event
from typing import TypeAlias

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from boundit.bandit.decision import Decision
from boundit.bandit.finite import FiniteEnvironment
from boundit.bandit.policy import Policy
from boundit.core.errors import shorten
from boundit.counts.named_array import Floats
from boundit.simulation.environment import Environment
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.feedback import Arrivals, Feedback, Ints, schedule_rewards
from boundit.simulation.options import refuse

PolicySource: TypeAlias = Policy | Callable[[int], Policy]
"""A policy, or a function that makes one for a run from the run's number."""
# Streams of random numbers of a run: contexts and rewards, one for each policy, auxiliary
# variables, whether they are observed, delays, and whether rewards are missing.
_ENVIRONMENT, _POLICIES, _SHOWN, _OBSERVED, _DELAYS, _LOSSES = range(6)


class Stopped(Exception):
    """The simulation was ended elsewhere."""


@dataclass(frozen=True, eq=False)
class RunBlock:
    """Some runs of a simulation, and the random numbers that all policies share in them.

    ``observed`` is the share of rounds in which policies observe their auxiliary variables.
    """

    environment: Environment
    seed: int
    runs: range
    rounds: int
    observed: float = 0.0
    feedback: Feedback | None = None

    def compute_regret(
        self, policies: Mapping[str, PolicySource], goal: str, at: Ints, stop: Event
    ) -> Floats:
        """Play every policy; gives cumulative regret, policies x runs x the rounds ``at``.

        ``stop`` ends policies that are played round by round.
        """
        means = self.environment.finite.means
        if goal == "max":
            losses = means.max(axis=1, keepdims=True) - means
        else:
            losses = means - means.min(axis=1, keepdims=True)
        found = np.empty((len(policies), len(self.runs), len(at)))
        for i, (name, policy) in enumerate(policies.items()):
            lost = losses[self.contexts, self.play(name, policy, stop)]
            found[i] = lost.cumsum(axis=1, out=lost)[:, at - 1]
        return found

    def play(self, name: str, source: PolicySource, stop: Event) -> Ints:
        """Play all runs with one policy; gives the position of the arm, runs x rounds."""
        if isinstance(source, Policy):
            return self._play_copies(name, source, slice(None), stop)
        parts = (
            self._play_copies(name, make_policy(name, source, run), slice(i, i + 1), stop)
            for i, run in enumerate(self.runs)
        )
        return np.concatenate(list(parts))

    def is_compiled(self, name: str, source: PolicySource) -> bool:
        """Tell whether the compiled loop plays a policy in these runs."""
        policy = make_policy(name, source, self.runs[0])
        return self._play_compiled(name, policy, slice(None)) is not None

    def _play_copies(self, name: str, policy: Policy, runs: slice, stop: Event) -> Ints:
        if stop.is_set():
            raise Stopped
        pulls = self._play_compiled(name, policy, runs)
        if pulls is None:
            own = range(len(self.runs))[runs]
            pulls = np.array([self._play_rounds(name, policy, i, stop) for i in own])
        return pulls

    def _play_compiled(self, name: str, policy: Policy, runs: slice) -> Ints | None:
        """Play runs in the compiled loop; None if it cannot play the policy."""
        player = self._bind(policy, None)
        environment = self._show(player)
        late = self._arrivals
        shown = None if environment.side_observation is None else self._shown_uniforms[runs]
        pulls = player.play(
            environment,
            self.contexts[runs],
            self.uniforms[runs],
            self._derive_seeds(name)[runs],
            shown,
            late and (late.order[runs], late.ends[runs], late.defaults[runs]),
        )
        if pulls is None or player.spec.arms == environment.arms:
            return pulls
        return np.array([environment.arms.index(arm) for arm in player.spec.arms])[pulls]

    def _play_rounds(self, name: str, policy: Policy, i: int, stop: Event) -> Ints:
        """Play one run through ``decide`` and ``learn``."""
        player = self._bind(policy, int(self._derive_seeds(name)[i]))
        environment, late = self._show(player), self._arrivals
        place = {arm: k for k, arm in enumerate(environment.arms)}
        waiting = dict[int, Decision]()
        pulls, came = np.empty(self.rounds, dtype=np.int64), 0
        expected = None if late is None else set(late.order[i, : late.ends[i, -1]].tolist())
        for t, context in enumerate(self.contexts[i].tolist()):
            if stop.is_set():
                raise Stopped
            decision = player.decide(environment.contexts[context], id=str(t))
            if decision.arm_values not in place:
                raise InvalidSimulation(
                    f"Policy {name!r} chose {decision.arm!r:.60}, which is not an arm of the "
                    f"environment. Its arms: {shorten(', '.join(map(str, environment.arms)))}."
                )
            pulls[t] = place[decision.arm_values]
            if late is None:
                self._learn(player, decision, environment, i, t, int(pulls[t]))
                continue
            if expected and t in expected:
                waiting[t] = decision
            for s in late.order[i, came : late.ends[i, t]].tolist():
                default = float(late.defaults[i, s])
                if isnan(default):
                    self._learn(player, waiting.pop(s), environment, i, s, int(pulls[s]))
                else:
                    player.learn(waiting.pop(s), default)
            came = int(late.ends[i, t])
        return pulls

    def _learn(
        self,
        player: Policy,
        decision: Decision,
        environment: FiniteEnvironment,
        i: int,
        t: int,
        arm: int,
    ) -> None:
        """Learn the reward of a round, and what else the round shows."""
        context, side = int(self.contexts[i, t]), environment.side_observation
        drawn = environment.draw_reward(context, arm, float(self.uniforms[i, t]))
        observed = None
        if side is not None and not isnan(uniform := float(self._shown_uniforms[i, t])):
            observed = side.observe(context, arm, drawn, uniform)
        player.learn(decision, float(environment.values[drawn]), observed=observed)

    def _show(self, player: Policy) -> FiniteEnvironment:
        shown = player.auxiliary_variables if self.observed else ()
        return self.environment.show(shown)

    def _bind(self, policy: Policy, seed: int | None) -> Policy:
        """Make a fresh copy that knows arms, contexts and rewards, and how long it plays."""
        environment, names = self.environment, self.environment.query.context
        levels = {name: environment.list_levels(name) for name in names}
        return policy.clone(
            arms=environment.finite.arms,
            context=levels if environment.levels else names,
            reward_range=environment.outcome_range,
            horizon=self.rounds,
            seed=seed,
        )

    @cached_property
    def contexts(self) -> Ints:
        """Positions of the contexts in ``environment.finite``, runs x rounds."""
        return self._rounds[0]

    @cached_property
    def uniforms(self) -> Floats:
        """Numbers that decide the rewards, runs x rounds."""
        return self._rounds[1]

    @cached_property
    def _rounds(self) -> tuple[Ints, Floats]:
        contexts, uniforms = np.empty((2, len(self.runs), self.rounds))
        for i, run in enumerate(self.runs):
            rng = default_rng(SeedSequence(self.seed, spawn_key=(run, _ENVIRONMENT)))
            rng.random(out=contexts[i])
            rng.random(out=uniforms[i])
        # Without the last end, which may lie below 1 by rounding.
        ends = self.environment.shares.cumsum()[:-1]
        return np.searchsorted(ends, contexts, side="right").astype(np.int64), uniforms

    @cached_property
    def _shown_uniforms(self) -> Floats:
        """Numbers that decide auxiliary variables, nan where they are not observed."""
        found = self._draw(_SHOWN)
        if self.observed < 1:
            found[self._draw(_OBSERVED) >= self.observed] = np.nan
        return found

    @cached_property
    def _arrivals(self) -> Arrivals | None:
        if self.feedback is None:
            return None
        return schedule_rewards(self.feedback, self._draw(_DELAYS), self._draw(_LOSSES))

    def _draw(self, stream: int) -> Floats:
        """Draw a uniform number for every run and round."""
        streams = (SeedSequence(self.seed, spawn_key=(run, stream)) for run in self.runs)
        return np.array([default_rng(each).random((self.rounds,)) for each in streams])

    def _derive_seeds(self, name: str) -> NDArray[np.uint64]:
        """Derive a seed for each run from the simulation's seed and the policy's name."""
        word = np.frombuffer(sha256(name.encode()).digest()[:8], dtype="<u4").tolist()
        streams = (SeedSequence(self.seed, spawn_key=(r, _POLICIES, *word)) for r in self.runs)
        return np.array([int(s.generate_state(1)[0]) for s in streams], dtype=np.uint64)


def make_policy(name: str, source: PolicySource, run: int) -> Policy:
    """Make the policy of a run; an error of a user's function says for which run."""
    if isinstance(source, Policy):
        return source
    try:
        made = source(run)
    except Exception as error:
        error.add_note(f"raised by policies[{name!r}]({run})")
        raise
    if not isinstance(made, Policy):
        raise refuse("policies", made, f"functions that return a policy; {name!r} does not")
    return made

"""A model with a question: what every arm earns in every context is known exactly."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.batch.environment import FiniteEnvironment, SideObservation
from boundit.bounds.request import read_bandit_query
from boundit.counts.log import Log
from boundit.counts.named_array import NamedArray
from boundit.counts.read import read_log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.errors import RewardNotBinary
from boundit.simulation.model import Model
from boundit.terms.bound_errors import WrongLength
from boundit.terms.names import sort_names

_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class World:
    """A model, and which of its variables are arms, context and reward.

    The reward is 0 or 1. A reward of more levels is refused: make it a node that is tossed
    with the chance it pays, which leaves every mean as it is.
    """

    model: Model
    query: EffectQuery
    name: str = "a world"

    def __post_init__(self) -> None:
        (outcome,) = read_bandit_query(self.model.graph, self.query).outcomes
        if (n := self.model.n_levels[outcome]) != 2:
            raise RewardNotBinary(outcome, n)

    @property
    def graph(self) -> CausalGraph:
        """The causal graph of the model: what an onlooker may assume.

        Users derive bounds from it; also read by ``OfflineTables.from_world``.
        """
        return self.model.graph

    def mean(self, arm: object, context: object = ()) -> float:
        """Compute ``E[reward | do(arm), context]`` exactly.

        Users hold bounds and estimates of one arm against it.
        """
        place = dict(
            zip(self.query.treatments, _read_values(arm, self.query.treatments), strict=True)
        )
        place |= dict(
            zip(self.query.context, _read_values(context, self.query.context), strict=True)
        )
        return float(self._means.at(place))

    def means(self) -> Mapping[tuple[tuple[int, ...], tuple[int, ...]], float]:
        """List the exact mean reward of every arm in every context, in order.

        Users hold bounds against it; also called by ``run_offline_study``.
        """
        n = len(self.query.treatments)
        numbers = self._means.align(self.query.treatments + self.query.context)
        return {(at[:n], at[n:]): float(value) for at, value in np.ndenumerate(numbers)}

    def log(self, n: int, seed: int) -> Log:
        """Draw ``n`` rows of the population and keep those that are logged: a biased log.

        Users derive bounds from it; also called by ``OfflineTables.from_world``.
        """
        rows = self.model.sample_log(n, np.random.default_rng(seed))
        return read_log({name: column.tolist() for name, column in rows.items()})

    def exact_log(self) -> Log:
        """Make a log without noise: the exact law of the logged rows, as endless logging shows.

        Users see with it what bounds come to in the limit; also called by ``run_suite_study``.
        """
        law = self.model.log()
        places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
        cells = {axis: column.tolist() for axis, column in zip(law.axes, places, strict=True)}
        share = {"share": law.values.ravel().tolist()}
        return read_log(cells | share, weight="share", exact=True)

    @cached_property
    def environment(self) -> FiniteEnvironment:
        """The arms, and the contexts that occur, as arrays of numbers: where policies play.

        Users read its arms and contexts; also read by ``Chunk.compute_regret`` and
        ``World.make_environment``.
        """
        arms, contexts = self.query.treatments, self.query.context
        numbers = self._means.align(contexts + arms)
        shape = numbers.shape[: len(contexts)]
        occurring = np.flatnonzero(self._population_shares)
        return FiniteEnvironment(
            tuple(tuple(map(int, np.unravel_index(i, shape))) for i in occurring),
            tuple(np.ndindex(numbers.shape[len(contexts) :])),
            np.ascontiguousarray(numbers.reshape(len(self._population_shares), -1)[occurring]),
        )

    def make_environment(self, names: Iterable[str]) -> FiniteEnvironment:
        """Make the environment where a round also shows these variables, as far as observed.

        The reward comes first, and they are drawn by their law given the arm, the context and
        the reward: whoever does not look meets the same rewards. Each environment is made once.
        Called by ``Chunk._play_compiled`` where policies are told of other variables.
        """
        seen = tuple(sort_names(self.graph.observed.intersection(names)))
        if not seen:
            return self.environment
        if seen not in self._environments:
            self._environments[seen] = replace(
                self.environment, side_observation=self._make_side_observation(seen)
            )
        return self._environments[seen]

    @cached_property
    def _environments(self) -> dict[tuple[str, ...], FiniteEnvironment]:
        """The environments made so far, by the variables that rounds show.

        Read by ``World.make_environment``.
        """
        return {}

    def _make_side_observation(self, seen: tuple[str, ...]) -> SideObservation:
        """Compute how likely values of the variables ``seen`` are, given what was played.

        That is arm, context and reward; gives what draws them after a round. Called by
        ``World.make_environment``.
        """
        arms, contexts, (outcome,) = (
            self.query.treatments,
            self.query.context,
            self.query.outcomes,
        )
        law = self.model.effect(outcomes=(outcome, *seen), treatments=arms, context=contexts)
        numbers = law.align((*contexts, *arms, outcome, *seen))
        shape = len(self._population_shares), len(self.environment.arms), 2, -1
        cells = np.nan_to_num(numbers.reshape(shape)[np.flatnonzero(self._population_shares)])
        # What never pays, or always does, never shows anything beside the other reward.
        ends = cells.cumsum(axis=-1) / np.maximum(cells.sum(axis=-1, keepdims=True), _TINY)
        ends[..., -1] = 1.0
        levels = tuple(tuple(range(self.model.n_levels[name])) for name in seen)
        return SideObservation(seen, levels, ends)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the whole population that has each context of the environment.

        Read by ``Chunk.draw``, which draws by it who comes.
        """
        return self._population_shares[self._population_shares > 0]

    @cached_property
    def _population_shares(self) -> NDArray[np.float64]:
        """The share of the whole population in each context, also of those that never occur.

        Used by ``World.shares``, ``World.environment`` and ``World._make_side_observation``.
        """
        names = self.query.context
        if not names:
            return np.ones(1)
        return np.asarray(self.model.law(names).align(names), dtype=np.float64).ravel()

    @cached_property
    def _means(self) -> NamedArray:
        """The mean reward of every arm in every context, as an array with named axes.

        Used by ``World.mean``, ``World.means`` and ``World.environment``.
        """
        effect = self.model.effect(
            outcomes=self.query.outcomes,
            treatments=self.query.treatments,
            context=self.query.context,
        )
        return effect.at({self.query.outcomes[0]: 1})


def _read_values(given: object, names: tuple[str, ...]) -> tuple[int, ...]:
    """Read an arm or a context as a tuple, a scalar for one variable too.

    Called by ``World.mean``.
    """
    values = tuple(given) if isinstance(given, tuple | list) else (given,)
    if len(values) != len(names):
        raise WrongLength("arm or context", values, names)
    return values

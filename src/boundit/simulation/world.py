"""A model with a question: what every arm earns in every context is known exactly."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.batch.environment import FiniteEnvironment, SideObservation
from boundit.bounds.request import read_bandit_query
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import NamedArray
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.errors import RewardNotBinary
from boundit.simulation.model import Model
from boundit.terms.bound import Value
from boundit.terms.bound_errors import OutsideDomain, WrongLength
from boundit.terms.errors import shorten
from boundit.terms.names import sort_names

_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class World:
    """A model, and which of its variables are arms, context and reward.

    The reward is 0 or 1. A reward of more levels is refused: make it a node that is tossed
    with the chance it pays, which leaves every mean as it is. ``levels`` are what the levels of
    variables are called, such as those of a log; without them they are 0, 1, 2 and so on.
    """

    model: Model
    query: EffectQuery
    name: str = "a world"
    levels: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        asked = shorten(f"{self.query} in {self.model.graph}", 200)
        return f"<{type(self).__name__} {self.name!r}: {asked}>"

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
        place: dict[str, int] = {}
        for names, given in ((self.query.treatments, arm), (self.query.context, context)):
            values = _read_values(given, names)
            place |= {
                name: self._find_code(name, of) for name, of in zip(names, values, strict=True)
            }
        return float(self._means.at(place))

    def means(self) -> Mapping[tuple[tuple[Any, ...], tuple[Any, ...]], float]:
        """List the exact mean reward of every arm in every context, in order.

        Users hold bounds against it; also called by ``run_offline_study``.
        """
        arms, contexts = self.query.treatments, self.query.context
        n = len(arms)
        numbers = self._means.align(arms + contexts)
        return {
            (self._name_levels(arms, at[:n]), self._name_levels(contexts, at[n:])): float(value)
            for at, value in np.ndenumerate(numbers)
        }

    def log(self, n: int, seed: int) -> Log:
        """Draw ``n`` rows of the population and keep those that are logged: a biased log.

        Users derive bounds from it; also called by ``OfflineTables.from_world``.
        """
        return read_log(self.draw_columns(n, seed))

    def draw_columns(self, n: int, seed: int) -> dict[str, list[Value]]:
        """Draw ``n`` rows of the population, and give the columns of those that are logged.

        Users write them to a file; also called by ``World.log``.
        """
        rows = self.model.sample_log(n, np.random.default_rng(seed))
        return {name: self._name_column(name, of) for name, of in rows.items()}

    def exact_log(self) -> Log:
        """Make a log without noise: the exact law of the logged rows, as endless logging shows.

        Users see with it what bounds come to in the limit; also called by ``run_suite_study``.
        """
        law = self.model.log()
        places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
        cells = {
            axis: self._name_column(axis, column)
            for axis, column in zip(law.axes, places, strict=True)
        }
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
            tuple(
                self._name_levels(contexts, map(int, np.unravel_index(i, shape)))
                for i in occurring
            ),
            tuple(
                self._name_levels(arms, arm)
                for arm in np.ndindex(numbers.shape[len(contexts) :])
            ),
            np.ascontiguousarray(numbers.reshape(len(self._population_shares), -1)[occurring]),
        )

    def make_environment(self, names: Iterable[str]) -> FiniteEnvironment:
        """Make the environment where a round also shows these variables, as far as observed.

        The reward comes first, and they are drawn by their law given the arm, the context and
        the reward: whoever does not look meets the same rewards. Each environment is made once.
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
        """The environments made so far, by the variables that rounds show."""
        return {}

    def _make_side_observation(self, seen: tuple[str, ...]) -> SideObservation:
        """Compute how likely values of the variables ``seen`` are, given what was played.

        That is arm, context and reward; gives what draws them after a round.
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
        levels = tuple(map(self.list_levels, seen))
        return SideObservation(seen, levels, ends)

    def list_levels(self, name: str) -> tuple[Value, ...]:
        """List what the levels of a variable are called, in the order of the model's tables.

        Users read with it what a fitted world calls the levels; also called by
        ``OfflineTables.from_world``.
        """
        return self.levels.get(name) or tuple(range(self.model.n_levels[name]))

    def _name_levels(self, names: Iterable[str], codes: Iterable[int]) -> tuple[Value, ...]:
        """Name the levels of an arm or a context that a model has by their numbers."""
        pairs = zip(names, codes, strict=True)
        return tuple(self.levels[name][i] if name in self.levels else i for name, i in pairs)

    def _name_column(self, name: str, codes: NDArray[np.int64]) -> list[Value]:
        """Name the levels of a whole column of rows or cells."""
        found: list[Value] = codes.tolist()
        if name not in self.levels:
            return found
        levels = self.levels[name]
        return [levels[i] for i in codes.tolist()]

    def _find_code(self, name: str, value: Value) -> int:
        """Find the number that a model has for a level of a variable.

        Numbers that are no level are refused by the model's arrays.
        """
        if name not in self.levels:
            return value  # type: ignore[return-value]
        if value not in self.levels[name]:
            raise OutsideDomain(name, value, self.levels[name])
        return self.levels[name].index(value)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the whole population that has each context of the environment."""
        return self._population_shares[self._population_shares > 0]

    @cached_property
    def _population_shares(self) -> NDArray[np.float64]:
        """The share of the whole population in each context, also of those that never occur."""
        names = self.query.context
        if not names:
            return np.ones(1)
        return np.asarray(self.model.law(names).align(names), dtype=np.float64).ravel()

    @cached_property
    def _means(self) -> NamedArray:
        """The mean reward of every arm in every context, as an array with named axes."""
        effect = self.model.effect(
            outcomes=self.query.outcomes,
            treatments=self.query.treatments,
            context=self.query.context,
        )
        return effect.at({self.query.outcomes[0]: 1})


def _read_values(given: object, names: tuple[str, ...]) -> tuple[Value, ...]:
    """Read an arm or a context as a tuple, a scalar for one variable too."""
    values = tuple(given) if isinstance(given, tuple | list) else (given,)
    if len(values) != len(names):
        raise WrongLength("arm or context", values, names)
    return values

"""Environments: a model with a query, in which policies are simulated."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.finite import FiniteEnvironment, SideObservation
from boundit.bounds.request import read_bandit_query
from boundit.core.errors import OutsideDomain, UnreadableFile, WrongLength, shorten
from boundit.core.names import Names, sort_names
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound import Value
from boundit.simulation.errors import InvalidEnvironment
from boundit.simulation.scm import SCM

_TINY, _HUGE = 1e-300, 1e300


class Environment:
    """A model whose variables are arms, context and reward; policies are simulated in it.

    Parameters
    ----------
    model : SCM
        The model.
    query : str or EffectQuery
        The mean outcome under each arm, as in ``"Y | do(X), Z"``.
    name : str
        Name in results.
    levels : mapping, optional
        Values of the levels of variables, such as those of a log; 0, 1, 2, ... by default. The
        reward is the value of the outcome, so that these must be numbers.

    Examples
    --------
    >>> model = SCM.of({"X": ([], 0.5), "Y": (["X"], [0.2, 0.7])})
    >>> Environment(model, "Y | do(X)").mean(1)
    0.7
    """

    def __init__(
        self,
        model: SCM,
        query: EffectQuery | str,
        name: str = "an environment",
        levels: Mapping[str, tuple[Value, ...]] | None = None,
    ) -> None:
        self.model, self.name, self.levels = model, name, dict(levels or {})
        self.query = read_bandit_query(model.graph, query)
        (outcome,) = self.query.outcomes
        for name, named in self.levels.items():
            n = model.n_levels.get(name)
            if n is None or len(named) != n or len({*map(repr, named)}) < n:
                raise InvalidEnvironment(
                    f"{name!r} has {n or 'no'} levels in the model. Give each one a value of its "
                    f"own, not {shorten(repr(named), 60)}."
                )
        values = self.list_levels(outcome)
        numbers = [v for v in values if isinstance(v, int | float) and abs(v) < _HUGE]
        if len(numbers) < max(len(values), 2):
            raise InvalidEnvironment(
                f"The outcome {outcome!r} has the values {shorten(repr(values), 60)}. A reward "
                "is one of two or more numbers."
            )

    def __repr__(self) -> str:
        asked = shorten(f"{self.query} in {self.model.graph}", 200)
        return f"<{type(self).__name__} {self.name!r}: {asked}>"

    @property
    def graph(self) -> CausalGraph:
        """Causal graph of the model, from which bounds are derived."""
        return self.model.graph

    @property
    def outcome_range(self) -> tuple[float, float]:
        """Least and greatest value of the outcome."""
        values = self.list_levels(self.query.outcomes[0])
        return float(min(values)), float(max(values))  # type: ignore[arg-type, type-var]

    def mean(self, arm: object, context: object = ()) -> float:
        """Compute ``E[outcome | do(arm), context]`` exactly.

        Parameters
        ----------
        arm, context : value or tuple
            Values of the treatments and of the context variables, in the query's order.

        Returns
        -------
        float
            The mean; nan if the context has probability 0.
        """
        place: dict[str, int] = {}
        for names, given in ((self.query.treatments, arm), (self.query.context, context)):
            values = tuple(given) if isinstance(given, tuple | list) else (given,)
            if len(values) != len(names):
                raise WrongLength("arm or context", values, names)
            place |= {
                name: self._find_code(name, value)
                for name, value in zip(names, values, strict=True)
            }
        return float(self._means.at(place))

    def means(self) -> Mapping[tuple[tuple[Any, ...], tuple[Any, ...]], float]:
        """Compute the exact mean of every arm in every context, in order."""
        arms, contexts = self.query.treatments, self.query.context
        n = len(arms)
        return {
            (self._name_levels(arms, at[:n]), self._name_levels(contexts, at[n:])): float(mean)
            for at, mean in np.ndenumerate(self._means.align(arms + contexts))
        }

    def log(self, n: int, seed: int) -> Log:
        """Draw ``n`` rows of the population; return those that are logged, as a log."""
        return read_log(self.draw_columns(n, seed))

    def draw_columns(self, n: int, seed: int) -> dict[str, list[Value]]:
        """Draw ``n`` rows of the population; return the columns of those that are logged."""
        rows = self.model.sample_log(n, np.random.default_rng(seed))
        return {name: self._name_column(name, of) for name, of in rows.items()}

    def exact_log(self) -> Log:
        """Make a log without sampling error: the exact distribution of logged rows."""
        return self._make_log(self.model.log(), None)

    def expected_table(self, names: Names, rows: int | None = None) -> Log:
        """Make the table of some variables in the whole population, without selection.

        Parameters
        ----------
        names : names
            The variables.
        rows : int, optional
            Number of rows; each combination of values has its expected number, rounded to whole
            rows. By default an exact distribution.
        """
        return self._make_log(self.model.distribution(names), rows)

    def list_levels(self, name: str) -> tuple[Value, ...]:
        """List the values of a variable, in the order of the model's tables."""
        return tuple(self.levels.get(name) or range(self.model.n_levels[name]))

    @cached_property
    def finite(self) -> FiniteEnvironment:
        """Arms and possible contexts as arrays of numbers, as whole runs read them."""
        arms, contexts = self.query.treatments, self.query.context
        codes = list(np.ndindex(*(self.model.n_levels[name] for name in contexts)))
        found = np.nan_to_num(self._align((self.query.outcomes[0],))[..., 0])
        return FiniteEnvironment(
            tuple(self._name_levels(contexts, codes[i]) for i in self._possible),
            tuple(
                self._name_levels(arms, at)
                for at in np.ndindex(*(self.model.n_levels[name] for name in arms))
            ),
            self._rewards[self._order],
            np.ascontiguousarray(found.cumsum(axis=-1)),
            np.ascontiguousarray(
                self._means.align(contexts + arms).reshape(len(codes), -1)[self._possible]
            ),
        )

    def show(self, names: Iterable[str]) -> FiniteEnvironment:
        """Make the environment where rounds also show these variables, as far as observed.

        They are drawn given arm, context and reward, so that all policies have the same rewards
        whatever they observe.
        """
        seen = tuple(sort_names(self.graph.observed.intersection(names)))
        if not seen:
            return self.finite
        if seen not in self._shown:
            cells = np.nan_to_num(self._align((self.query.outcomes[0], *seen)))
            # A reward of probability 0 shows nothing, but its row must end at 1.
            ends = cells.cumsum(axis=-1) / np.maximum(cells.sum(axis=-1, keepdims=True), _TINY)
            ends[..., -1] = 1.0
            side = SideObservation(seen, tuple(map(self.list_levels, seen)), ends)
            self._shown[seen] = replace(self.finite, side_observation=side)
        return self._shown[seen]

    @cached_property
    def shares(self) -> Floats:
        """Share of the population in each context of ``finite``."""
        return self._all_shares[self._possible]

    @cached_property
    def _shown(self) -> dict[tuple[str, ...], FiniteEnvironment]:
        return {}

    def _align(self, asked: tuple[str, ...]) -> Floats:
        """P(asked | do(arm), context): contexts x arms x rewards, highest first, x the rest."""
        arms, contexts = self.query.treatments, self.query.context
        effect = self.model.effect(outcomes=asked, treatments=arms, context=contexts)
        numbers = effect.align((*contexts, *arms, *asked))
        shape = len(self._all_shares), -1, len(self._rewards)
        rest = int(np.prod([self.model.n_levels[name] for name in asked[1:]], dtype=np.int64))
        return numbers.reshape(*shape, rest)[self._possible][:, :, self._order]

    @cached_property
    def _rewards(self) -> Floats:
        return np.array(self.list_levels(self.query.outcomes[0]), dtype=np.float64)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(-self._rewards, kind="stable")

    @cached_property
    def _means(self) -> NamedArray:
        (outcome,) = self.query.outcomes
        names = self.query.treatments + self.query.context
        effect = self.model.effect(
            outcomes=outcome, treatments=self.query.treatments, context=self.query.context
        )
        numbers = effect.align((*names, outcome))
        return NamedArray(names, (numbers * self._rewards).sum(axis=-1))

    @cached_property
    def _all_shares(self) -> Floats:
        names = self.query.context
        if not names:
            return np.ones(1)
        return np.asarray(self.model.distribution(names).align(names), np.float64).ravel()

    @cached_property
    def _possible(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._all_shares)

    def _make_log(self, found: NamedArray, rows: int | None) -> Log:
        places = np.indices(found.values.shape).reshape(len(found.axes), found.values.size)
        cells = {
            axis: self._name_column(axis, column)
            for axis, column in zip(found.axes, places, strict=True)
        }
        shares = found.values.ravel() if rows is None else share_out(found.values, rows).ravel()
        return read_log(cells | {"share": shares.tolist()}, weight="share", exact=rows is None)

    def _name_levels(self, names: Iterable[str], codes: Iterable[int]) -> tuple[Any, ...]:
        pairs = zip(names, codes, strict=True)
        return tuple(self.levels[name][i] if name in self.levels else i for name, i in pairs)

    def _name_column(self, name: str, codes: NDArray[np.int64]) -> list[Value]:
        found: list[Value] = codes.tolist()
        if name not in self.levels:
            return found
        levels = self.levels[name]
        return [levels[i] for i in codes.tolist()]

    def _find_code(self, name: str, value: object) -> int:
        """Find the level of a value; numbers that are not levels are refused by arrays."""
        if name not in self.levels:
            return value  # type: ignore[return-value]
        if value not in self.levels[name]:
            raise OutsideDomain(name, value, self.levels[name])
        return self.levels[name].index(value)


def share_out(shares: Floats, rows: int) -> Floats:
    """Share out whole rows: each cell gets its expected number, rounded so that the sum is right.

    >>> share_out(np.array([0.26, 0.27, 0.47]), 10)
    array([2., 3., 5.])
    """
    wanted = (shares / shares.sum() * rows).ravel()
    found = np.floor(wanted)
    left = round(rows - float(found.sum()))
    first = np.argsort(found - wanted, kind="stable")[: max(left, 0)]
    found[first] += 1
    return np.asarray(found.reshape(shares.shape), dtype=np.float64)


def read_environment(path: str | os.PathLike[str]) -> Environment:
    """Read an environment from a JSON file.

    Parameters
    ----------
    path : path
        A file with ``query`` and ``tables``, and perhaps ``hidden``, ``selection``, ``name`` and
        ``levels``. A table is ``[parents, probabilities]``, see ``SCM``.

    Examples
    --------
    .. code-block:: json

        {"query": "Y | do(X)", "selection": "S", "hidden": ["C"],
         "tables": {"C": [[], 0.5], "X": [["C"], [0.2, 0.8]],
                    "Y": [["X", "C"], [[0.1, 0.6], [0.3, 0.8]]], "S": [["Y"], [0.2, 0.9]]}}
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise _refuse_file(path, f"It is not JSON ({error})") from None
    known = {"query", "tables", "hidden", "selection", "name", "levels"}
    if not isinstance(record, dict) or not {"query", "tables"} <= record.keys() <= known:
        raise _refuse_file(
            path, "It needs query and tables, and may have hidden, selection, name and levels"
        )
    expected = {
        "query": str,
        "name": str,
        "selection": str | None,
        "tables": dict,
        "hidden": list,
        "levels": dict,
    }
    for key, kind in expected.items():
        if key in record and not isinstance(record[key], kind):
            raise _refuse_file(path, f"{key!r} is {shorten(repr(record[key]), 40)}")
    names = record.get("hidden", [])
    tables: dict[str, Any] = {}
    for node, spec in record["tables"].items():
        if not (isinstance(spec, list) and len(spec) == 2 and isinstance(spec[0], list)):
            raise _refuse_file(path, f"The table of {node!r} is not [parents, probabilities]")
        names = names + spec[0]
        tables[node] = (spec[0], spec[1])
    if not all(isinstance(name, str) for name in names):
        raise _refuse_file(path, "Names of variables must be text")
    levels = record.get("levels", {})
    plain = str | int | float
    for of in levels.values():
        if not isinstance(of, list) or not all(isinstance(value, plain) for value in of):
            raise _refuse_file(path, "'levels' must have a list of values for each variable")
    hidden, selection = record.get("hidden", []), record.get("selection")
    return Environment(
        SCM.of(tables, hidden=hidden, selection=selection),
        record["query"],
        record.get("name", Path(path).stem),
        {name: tuple(of) for name, of in levels.items()},
    )


def _refuse_file(path: object, reason: str) -> InvalidEnvironment:
    return InvalidEnvironment(f"{str(path)!r} is not an environment. {shorten(reason)}.")

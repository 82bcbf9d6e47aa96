r"""Joint response types of some variables: every way they can behave, as far as it shows.

A *response type* of a variable is a function from its arguments to its levels; hidden causes
do no more than choose one for each variable. A joint type is seen only through *scenarios*:
runs in which some variables are set by hand and the others follow from their arguments. Two
types that run alike in every scenario are one column of a program. So a variable's function is
asked only where some scenario asks for it, and types are counted as runs: on the bow
``X <-> Y, X -> Y`` one scenario to watch and one with ``X`` set have 6 distinct runs of 8
types.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.terms.names import Nodes

Levels = NDArray[np.int16]
Codes = NDArray[np.int64]
MOST_TYPES = 20_000
"""How many columns a program may have; with more, scenarios are dropped, which is sound."""


@dataclass(frozen=True, slots=True)
class TypedVariable:
    """One variable, and what it responds to."""

    name: str
    n_levels: int
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeScenario:
    """A run: what is set by hand, or comes from outside, and which variables matter in it."""

    values: Mapping[str, int]
    followed: Nodes


@dataclass(frozen=True, eq=False)
class ResponseTypes:
    """Distinct runs, one a column: every variable's level in every scenario, -1 unfollowed."""

    variables: tuple[TypedVariable, ...]
    runs: Levels  # variable, scenario, column

    @property
    def n_types(self) -> int:
        """The number of distinct response types, which is that of the columns of a program."""
        return int(self.runs.shape[2])

    def find_cells(self, scenario: int, names: Sequence[str]) -> Codes:
        """Find the cell of the table of ``names`` that each response type ends in.

        A ``scenario`` says what is set by hand or comes from outside. Cells are numbered row by
        row.
        """
        at = {v.name: i for i, v in enumerate(self.variables)}
        code = np.zeros(self.n_types, dtype=np.int64)
        for name in names:
            code = code * self.variables[at[name]].n_levels + self.runs[at[name], scenario]
        return code


def list_response_types(
    variables: Sequence[TypedVariable],
    scenarios: Sequence[TypeScenario],
    *,
    shown: Mapping[int, Nodes] | None = None,
    most: int = MOST_TYPES,
) -> ResponseTypes | None:
    """List the distinct runs of all joint response types; None for more than ``most``.

    A response type says how variables answer to their causes, its run what levels they then
    have in each scenario. ``variables`` come causes first. Of a scenario in ``shown`` only
    these variables matter in the end, and runs that agree there are one.

    >>> bow = TypedVariable("X", 2), TypedVariable("Y", 2, ("X",))
    >>> watched = TypeScenario({}, frozenset("XY"))
    >>> treated = TypeScenario({"X": 1}, frozenset("Y"))
    >>> list_response_types(bow, [watched, treated]).n_types
    6
    """
    runs = np.full((len(variables), len(scenarios), 1), -1, dtype=np.int16)
    for i in range(len(variables)):
        grown = _add_levels(runs, i, variables, scenarios, most)
        if grown is None:
            return None
        runs = grown
    return ResponseTypes(tuple(variables), _merge_equal_runs(runs, variables, shown or {}))


def _add_levels(
    runs: Levels,
    i: int,
    variables: Sequence[TypedVariable],
    scenarios: Sequence[TypeScenario],
    most: int,
) -> Levels | None:
    """Add the level of the i-th variable in every scenario to runs of the variables before it.

    A run is the levels of variables in each scenario. It becomes several where the variable's
    response is still free, one for each level. None when there are more than ``most``.
    """
    name, n_levels = variables[i].name, variables[i].n_levels
    outside = _number_outside(variables, i, scenarios)
    asked: dict[int, Codes] = {}
    for s, scenario in enumerate(scenarios):
        if name in scenario.values:
            runs[i, s] = scenario.values[name]
        elif name in scenario.followed:
            argument = _encode_argument(runs[:, s], i, variables) * len(scenarios) + outside[s]
            known = _recall_levels(runs[i], argument, asked)
            times = np.where(known < 0, n_levels, 1)
            if int(times.sum()) > most:
                return None
            take = np.repeat(np.arange(len(times)), times)
            fresh = np.arange(len(take)) - np.repeat(np.cumsum(times) - times, times)
            runs, known = runs[:, :, take], known[take]
            runs[i, s] = np.where(known < 0, fresh, known)
            asked = {place: codes[take] for place, codes in asked.items()}
            asked[s] = argument[take]
    return runs


def _number_outside(
    variables: Sequence[TypedVariable], i: int, scenarios: Sequence[TypeScenario]
) -> list[int]:
    """Number the scenarios by the values of the i-th variable's arguments outside the program.

    Scenarios with equal values get one number.
    """
    before = {variable.name for variable in variables[:i]}
    names = [name for name in variables[i].arguments if name not in before]
    handed: dict[tuple[int, ...], int] = {}
    return [
        handed.setdefault(tuple(scenario.values.get(name, 0) for name in names), len(handed))
        for scenario in scenarios
    ]


def _encode_argument(levels: Levels, i: int, variables: Sequence[TypedVariable]) -> Codes:
    """Encode, for each run, the levels of the i-th variable's arguments as one number.

    A run is the levels of variables in each scenario; arguments are a variable's causes.
    """
    code = np.zeros(levels.shape[1], dtype=np.int64)
    for place, variable in enumerate(variables[:i]):
        if variable.name in variables[i].arguments:
            code = code * variable.n_levels + levels[place]
    return code


def _recall_levels(levels: Levels, argument: Codes, asked: Mapping[int, Codes]) -> Levels:
    """Find the level that each run's function gave to this argument in an earlier scenario.

    A run's function says how a variable answers to its causes, the argument. It is -1 where the
    function was not asked before.
    """
    known = np.full(len(argument), -1, dtype=np.int16)
    for scenario, codes in asked.items():
        known = np.where((known < 0) & (codes == argument), levels[scenario], known)
    return known


def _merge_equal_runs(
    runs: Levels, variables: Sequence[TypedVariable], shown: Mapping[int, Nodes]
) -> Levels:
    """Keep one of several runs that differ only in variables that do not matter in the end.

    A run is the levels of variables in each scenario; ``shown`` says which variables matter in
    one.
    """
    runs = runs.copy()
    for scenario, names in shown.items():
        for i, variable in enumerate(variables):
            if variable.name not in names:
                runs[i, scenario] = -1
    flat = runs.reshape(-1, runs.shape[2])
    return runs[:, :, np.unique(flat, axis=1, return_index=True)[1]]


def list_assignments(levels: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """List every combination of levels of some variables, given how many levels each has.

    >>> list(list_assignments({"A": 2, "B": 1}))
    [{'A': 0, 'B': 0}, {'A': 1, 'B': 0}]
    """
    for place in np.ndindex(*levels.values()):
        yield dict(zip(levels, place, strict=True))

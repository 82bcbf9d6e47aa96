"""How a response-type program is laid out for variables with so many levels."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import HEADS
from boundit.bounds.lp.response_types import (
    MOST_TYPES,
    Codes,
    ResponseTypes,
    TypedVariable,
    TypeScenario,
    assignments,
    response_types,
)
from boundit.bounds.numbers import Numbers
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression

MOST_WORK = 3_000_000
"""How many columns all searches of one rule may go through; with more it is left out."""
_SETUP = 300  # what a search costs however few columns it has, counted in columns
Cell: TypeAlias = Mapping[str, int]


class TargetCells(NamedTuple):
    """At one value of the known variables: each column's target cell, and whether it pays."""

    cell: Codes
    pays: NDArray[np.bool_]

    def worth(self, weights: Floats) -> Floats:
        """What each column is worth when the cells of the target weigh so much."""
        return np.where(self.pays, weights[self.cell], 0.0)


@final
class ProgramLayout:
    """The scenes, cells, conditions and arms of one program, and the numbers at each."""

    def __init__(
        self, spec: ResponseProgram, levels: Mapping[str, int], *, most: int = MOST_TYPES
    ) -> None:
        self.spec, self.levels, self.most = spec, levels, most
        self.inside = [
            TypedVariable(name, levels[name], arguments)
            for name, arguments in zip(spec.inside, spec.arguments, strict=True)
        ]
        self.outer = list(assignments(self.of(spec.varied)))
        self.inner = list(assignments(self.of(spec.inside)))
        self.fixed = list(assignments(self.of(spec.fixed)))
        self.arms = list(assignments(self.of(spec.set_by_hand)))

    def law(self, numbers: Numbers) -> tuple[Floats, Floats]:
        """Both ends of ``Q[T]``: by the fixed values, by scene, by cell."""
        spec = self.spec
        low, high = self.between(numbers, spec.law, spec.fixed + spec.varied + spec.inside)
        shape = (len(self.fixed), len(self.outer), len(self.inner))
        return low.reshape(shape), np.maximum(low, high).reshape(shape)

    def weights(self, numbers: Numbers) -> tuple[Floats, Floats]:
        """Both ends of the known factors: by the fixed values, by arm, by ``target``."""
        spec = self.spec
        order = spec.fixed + spec.set_by_hand + self.target
        low = high = np.ones(tuple(self.of(order).values()))
        for factor in spec.weights:
            ends = self.between(numbers, factor, order)
            low, high = low * ends[0], high * ends[1]
        shape = (len(self.fixed), len(self.arms), -1)
        return low.reshape(shape), high.reshape(shape)

    @property
    def target(self) -> tuple[str, ...]:
        """The variables that the known factors speak of and that the target follows."""
        spec = self.spec
        followed = tuple(v for v in spec.inside if v in spec.followed)
        return spec.summed + followed if spec.weights else ()

    def parts(self, arm: Cell) -> list[tuple[ResponseTypes, list[int]]] | None:
        """Part the scenes until every part has few enough columns; None when that is no use."""
        waiting, done = [list(range(len(self.outer)))], list[tuple[ResponseTypes, list[int]]]()
        n_searches = 2 * len(self.arms) * len(self.fixed)
        while waiting:
            scenes = waiting.pop()
            room = min(self.most, MOST_WORK // max(n_searches * (len(done) + 1), 1) - _SETUP)
            runs = self.types([arm], scenes, room) if room > 0 else None
            if runs is not None:
                done.append((runs, scenes))
            elif len(scenes) == 1:
                return None
            else:
                half = len(scenes) // 2
                waiting += [scenes[half:], scenes[:half]]
        return done

    def types(
        self, arms: Sequence[Cell], scenes: Sequence[int], most: int
    ) -> ResponseTypes | None:
        """The runs that show in some scenes and in the targets of some arms."""
        watched = [TypeScenario(self.outer[s], frozenset(self.spec.inside)) for s in scenes]
        aimed = [
            TypeScenario({**arm, **k}, self.spec.followed) for arm in arms for k in self.known
        ]
        after = range(len(watched), len(watched) + len(aimed))
        shown = dict.fromkeys(after, self.spec.asked.outcomes) if not self.target else {}
        return response_types(self.inside, [*watched, *aimed], shown=shown, most=most)

    def heads(self, runs: ResponseTypes, first: int) -> list[TargetCells]:
        """What pays in the target whose scenes begin at ``first``."""
        (outcome,) = self.spec.asked.outcomes
        found = []
        for i, known in enumerate(self.known):
            scene, code = first + i, np.zeros(runs.n_types, dtype=np.int64)
            for name in self.target:
                level = known[name] if name in known else runs.cells(scene, [name])
                code = code * self.levels[name] + level
            pays = np.ones(runs.n_types, dtype=bool)
            if outcome not in known:
                pays = runs.cells(scene, [outcome]) == HEADS
            found.append(TargetCells(code, pays))
        return found

    @property
    def known(self) -> list[dict[str, int]]:
        """Every value of the variables of known factors; of the outcome only heads."""
        found = assignments(self.of(self.spec.summed))
        return [
            k for k in found if all(k[y] == HEADS for y in self.spec.asked.outcomes & k.keys())
        ]

    def of(self, names: Sequence[str]) -> dict[str, int]:
        """How many levels these have."""
        return {name: self.levels[name] for name in names}

    def between(
        self, numbers: Numbers, formula: Expression, order: Sequence[str]
    ) -> tuple[Floats, Floats]:
        """Both ends of a formula at every level of ``order``."""
        shape = tuple(self.of(order).values())
        low, high = numbers.between(formula, order)
        return np.broadcast_to(low, shape), np.broadcast_to(high, shape)

"""Joint bounds of confounded arms: the average effect of Balke and Pearl, and beyond (3.8)."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import linprog

from boundit.bounds.contrasts import type_differences
from boundit.bounds.derive import derive_bounds
from boundit.counts.named_array import Floats
from boundit.counts.read import read_log
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.terms.bound_table import BoundTable
from tests.bounds.exact import as_log
from tests.bounds.programs import models

INSTRUMENT = "Z -> X -> Y; X <-> Y"
BOTH = "Z -> X -> Y; X <-> Y; X -> [S]; Y -> [S]"


def solve_sixteen_types(p: Floats, one: int, other: int) -> float:
    """The greatest effect over all 16 joint types, written down plainly; ``p[z, x, y]``."""
    types = list(product(product((0, 1), repeat=2), repeat=2))  # x by z, y by x
    gain = [y[one] - y[other] for _, y in types]
    rows = [
        [float(x[z] == a and y[a] == b) for x, y in types]
        for z, a, b in product((0, 1), repeat=3)
    ]
    found = linprog(-np.array(gain), A_eq=np.array(rows), b_eq=p.ravel(), bounds=(0, None))
    return float(-found.fun)


def derive_table(model: Model, asked: str = "Y | do(X)") -> BoundTable:
    rate = model.selection_rate() if model.graph.selection else None
    log = as_log(model.log())
    return derive_bounds(model.graph, asked, log, confidence=None, selection_rate=rate)


def test_the_difference_is_that_of_all_sixteen_types() -> None:
    """For two levels it seldom says more than the two arms apart, and never less."""
    for model in models(INSTRUMENT, 15, default_rng(1)):
        table = derive_table(model)
        p = model.law().condition_on("Z").align(("Z", "X", "Y"))
        for one, other in ((0, 1), (1, 0)):
            assert table.contrast(one, other) == pytest.approx(
                solve_sixteen_types(p, one, other), abs=1e-7
            )


def test_the_published_effect_of_the_cholesterol_trial() -> None:
    """Balke and Pearl (1997): the effect of the drug lies in [.392, .780]."""
    log = read_log(
        {
            "Z": [0, 0, 1, 1, 1, 1],
            "X": [0, 0, 0, 1, 0, 1],
            "Y": [0, 1, 0, 0, 1, 1],
            "n": [919, 81, 315, 139, 73, 473],
        },
        weight="n",
    )
    table = derive_bounds(parse(INSTRUMENT), "Y | do(X)", log, confidence=None)

    assert -table.contrast(0, 1) == pytest.approx(0.392, abs=1e-3)
    assert table.contrast(1, 0) == pytest.approx(0.780, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "context"),
    [
        (INSTRUMENT, ""),
        ("C -> Z; C -> X; C -> Y; Z -> X -> Y; X <-> Y", "C"),
        ("Z -> X -> M -> Y; X <-> Y; X <-> M", ""),
        ("Z -> X -> Y; X <-> Y; C -> Y", "C"),  # the context may be set by hand
        (BOTH, ""),
        ("C -> Z; C -> X; C -> Y; Z -> X -> Y; X <-> Y; X -> [S]", "C"),
    ],
)
def test_no_difference_passes_its_end(text: str, context: str) -> None:
    for model in models(text, 6, default_rng(2), levels=(2, 3), zeros=0.2):
        table = derive_table(model, f"Y | do(X){', ' * bool(context)}{context}")
        effect = model.effect(outcomes="Y", treatments="X", context=tuple(context)).at({"Y": 1})
        mean = effect.align(("X", *context))
        for one, other in permutations(range(model.n_levels["X"]), 2):
            for where in np.ndindex(mean.shape[1:]):
                lead = mean[one][where] - mean[other][where]
                # Of a context that nobody has, the mean is nan.
                assert not lead > table.contrast(one, other, where) + 1e-8


def test_under_selection_the_difference_is_narrower_than_the_ends_apart() -> None:
    narrower = 0
    for model in models(BOTH, 8, default_rng(3)):
        table = derive_table(model)
        apart = table[1, ()].upper - table[0, ()].lower
        narrower += table.contrast(1, 0) < apart - 1e-3
    assert narrower >= 2


def test_an_arm_that_has_a_program_of_its_own_shares_nothing() -> None:
    text = "Z -> X -> Y; X <-> Y; A -> Y"
    for model in models(text, 3, default_rng(4)):
        table = derive_table(model, "Y | do(X, A)")
        mean = model.effect(outcomes="Y", treatments=("X", "A")).at({"Y": 1})
        value = mean.align(("X", "A"))
        for one, other in permutations(product((0, 1), repeat=2), 2):
            assert value[one] - value[other] <= table.contrast(one, other) + 1e-8


def test_with_too_many_types_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_differences, "MOST_COLUMNS", 3)
    (model,) = models(INSTRUMENT, 1, default_rng(5))
    assert derive_table(model).contrasts == {}

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bounds.approximate.flat_rule import FlatProgram, flatten_rule
from boundit.bounds.approximate.multipliers import find_multipliers
from boundit.bounds.numbers import PlugInNumbers
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from tests.bounds.approximate.logs import INSTRUMENT

LEVELS = dict.fromkeys("XYZ", 2)


def flatten(name: str) -> FlatProgram:
    rule = next(p.rule for p in INSTRUMENT.rules if p.record.name.startswith(name))
    flat = flatten_rule(rule, LEVELS)
    assert flat is not None
    assert flat.program is not None
    return flat.program


def draw_law(seed: int) -> tuple[NamedArray, Floats]:
    """A law of Z, X and Y under random response types, and what each arm would earn."""
    rng = np.random.default_rng(seed)
    types = rng.dirichlet(np.full(16, 0.5)).reshape(2, 2, 2, 2)  # X by Z = 0, 1; Y by X = 0, 1
    law = np.zeros((2, 2, 2))
    for z in (0, 1):
        for a, b, c, d in np.ndindex(2, 2, 2, 2):
            x = (a, b)[z]
            law[z, x, (c, d)[x]] += 0.5 * types[a, b, c, d]
    return NamedArray(("Z", "X", "Y"), law), np.array(
        [types[:, :, 1].sum(), types[:, :, :, 1].sum()]
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1_000), st.integers(0, 1_000))
def test_multipliers_of_one_law_prove_an_end_of_any_other(one: int, other: int) -> None:
    program = flatten("program")
    chosen, _ = draw_law(one)
    numbers = PlugInNumbers(Evaluator(chosen, [chosen]))

    found = find_multipliers(program, numbers, 1e9)

    law, earned = draw_law(other)
    given_z = law.values / law.values.sum(axis=(1, 2), keepdims=True)
    assert program.spec.varied + program.spec.inside == ("Z", "X", "Y")
    for upper, truth in ((False, earned), (True, 1 - earned)):
        end = (found[upper] * given_z).sum(axis=(1, 2, 3))
        assert (end <= truth + 1e-6).all()


def test_multipliers_are_best_at_the_law_that_chose_them() -> None:
    law, _ = draw_law(3)
    numbers = PlugInNumbers(Evaluator(law, [law]))
    rule = next(p.rule for p in INSTRUMENT.rules if p.record.name.startswith("program"))
    exact = rule.find_ends(numbers, numbers.workspace.budget)

    lower, upper = find_multipliers(flatten("program"), numbers, 1e12)

    given_z = law.values / law.values.sum(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose((lower * given_z).sum(axis=(1, 2, 3)), exact.lower, atol=1e-5)
    np.testing.assert_allclose(
        1 - (upper * given_z).sum(axis=(1, 2, 3)), exact.upper, atol=1e-5
    )


def test_natural_bounds_count_who_chose_the_arm_and_won_or_lost() -> None:
    law, _ = draw_law(4)

    lower, upper = find_multipliers(
        flatten("natural"), PlugInNumbers(Evaluator(law, [law])), 1.0
    )

    assert lower.tolist() == [[[0, 1], [0, 0]], [[0, 0], [0, 1]]]
    assert upper.tolist() == [[[1, 0], [0, 0]], [[0, 0], [1, 0]]]

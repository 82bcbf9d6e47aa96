"""The scaled sum is the program's end; means of e-values of claims on it are at most 1."""

from itertools import product
from math import lgamma

import numpy as np
import pytest

from boundit.bounds.claims.pilot import SplitRows, SplitSources
from boundit.bounds.claims.pilot_choice import PilotChoice
from boundit.bounds.claims.programs.dual_vectors import DualVectors
from boundit.bounds.claims.programs.program_claims import RankClaims, find_ranks
from boundit.bounds.claims.programs.program_form import ProgramForm
from boundit.bounds.claims.programs.program_numbers import ProgramReader
from boundit.bounds.numbers import PlugInNumbers
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.simulation.model import Model
from tests.bounds.claims.logs import list_counts
from tests.bounds.claims.programs.rules import (
    BOW,
    INSTRUMENT,
    MEDIATOR,
    STRATA,
    count,
    count_levels,
    find_form_with,
    list_forms,
    list_rules,
)
from tests.bounds.programs import models

WORKSPACE = Workspace.make_default()


def make_reader(
    form: ProgramForm, law: NamedArray, pilot: Floats, rest: Floats
) -> ProgramReader:
    """Read a form off counts of a pilot and of a rest."""
    first, second = count(law, pilot), count(law, rest)
    split = SplitRows(first, (second,), (second,))
    return ProgramReader(form, SplitSources(split, (split,)), count_levels(law), WORKSPACE)


def make_claims(reader: ProgramReader, ranks: DualVectors) -> RankClaims:
    pilot = reader.read_pilot(reader.read_law())
    rest = reader.read_rest(np.random.default_rng(1))
    scaled = reader.scale(ranks)
    return RankClaims(scaled, pilot.number(scaled), rest.number(scaled))


def find_both_ranks(reader: ProgramReader) -> tuple[list[DualVectors], list[DualVectors]]:
    law = reader.read_law()
    found = find_ranks(reader, reader.read_pilot(law), law, WORKSPACE)
    assert isinstance(found, tuple)
    return found


def draw_model(drawn: str, seed: int = 5) -> Model:
    (model,) = models(drawn, 1, np.random.default_rng(seed))
    return model


def weigh(claims: RankClaims) -> Floats:
    """The value of the sum at the rest's own shares, in the scale of the reward."""
    arrays, last = claims.rest.arrays, claims.rest.last
    n_axes = len(arrays.layout.axes)
    leaf = arrays.weights[-1] * last.mean
    value = leaf.sum(axis=tuple(range(n_axes, leaf.ndim)))
    return np.asarray(claims.scaled.base + claims.scaled.length * value)


@pytest.mark.parametrize("drawn", [INSTRUMENT, STRATA, BOW])
def test_sum_is_the_programs_end(drawn: str) -> None:
    """With pilot and rest of the same shares the sum is what the rule computes on them."""
    law = draw_model(drawn).law()
    rows = 1e7 * law.values
    found = PlugInNumbers(Evaluator(law, [law]))
    for rule, form in product(list_rules(drawn), list_forms(drawn)):
        if form.program is not rule.core or len(rule.links) != len(form.summed):
            continue
        reader = make_reader(form, law, rows, rows)
        ends = rule.find_ends(found)
        lower, upper = find_both_ranks(reader)
        low = weigh(make_claims(reader, lower[0]))
        high = 1 - weigh(make_claims(reader, upper[0]))
        # The pilot's fitted law is near the true one, and so is what its multipliers prove.
        assert low == pytest.approx(ends.lower, abs=5e-3)
        assert high == pytest.approx(ends.upper, abs=5e-3)
        assert (low <= ends.lower + 1e-6).all()
        assert (high >= ends.upper - 1e-6).all()


def test_unknown_variables_are_axes_where_nothing_is_summed() -> None:
    unknown = [form for form in list_forms(MEDIATOR) if form.form.worst]
    law = draw_model(MEDIATOR).law()
    reader = make_reader(unknown[0], law, 100 * law.values, 100 * law.values)
    assert reader.is_flat
    assert reader.layout.axes == ("X", "M")


def list_rests(law: NamedArray, rows: int) -> tuple[Floats, Floats]:
    """Every log of so many rows, and its chance."""
    counts = list_counts(law.values.size, rows)
    factorial = np.array([lgamma(k + 1) for k in range(rows + 1)])
    chance = np.exp(
        factorial[rows] - factorial[counts].sum(axis=1) + counts @ np.log(law.values.ravel())
    )
    return counts.reshape(-1, *law.values.shape).astype(np.float64), np.asarray(chance)


@pytest.mark.parametrize(
    ("drawn", "summed", "rows"), [(INSTRUMENT, "", 3), (STRATA, "W", 2), (BOW, "", 5)]
)
@pytest.mark.parametrize("factor", [0.5, 2.0, 6.0])
def test_means_of_e_values_are_at_most_one(
    drawn: str, summed: str, rows: int, factor: float
) -> None:
    """Theorem 1 with multipliers of any pilot, over every log of a few rows."""
    law = draw_model(drawn).law()
    varied = "" if drawn == BOW else "Z"
    form = find_form_with(drawn, summed, varied)
    few = np.random.default_rng(2).multinomial(12, law.values.ravel())
    pilot = few.reshape(law.values.shape).astype(np.float64)
    exact = make_reader(form, law, pilot, 1e9 * law.values)
    for ranks in find_both_ranks(exact):
        truth = (weigh(make_claims(exact, ranks[0])) - exact.scale(ranks[0]).base) / (
            exact.scale(ranks[0]).length
        )
        mean = np.zeros(())
        counts, chance = list_rests(law, rows)
        for each, probability in zip(counts, chance, strict=True):
            claims = make_claims(make_reader(form, law, pilot, each), ranks[0])
            shape = truth.shape
            spread = tuple(np.zeros(shape, bool) for _ in claims.rest.arrays.numbers)
            choice = PilotChoice(np.full(shape, factor), spread, truth)
            log_error = np.full(shape, 3.0)
            bound = claims.sum.bound_value(choice, log_error, upper=False)
            mean = mean + probability * np.exp(factor * (bound - truth) + log_error)
        assert (mean <= 1 + 1e-3).all()

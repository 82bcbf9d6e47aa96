"""What is read off counts, against brute force on the counts of pilot and rest."""

from dataclasses import dataclass

import numpy as np
import pytest

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.claims.last_level import NumericRest, ValuedRest
from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.pilot import SplitRows, SplitSources, split_sources
from boundit.bounds.claims.read_form import FormReader
from boundit.bounds.claims.sum_arrays import take_worst
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import P
from tests.bounds.claims.exact_forms import draw_forms, evaluate_form
from tests.bounds.claims.tables import make_bare, make_binary, make_numeric

X, Y, Z = frozenset("X"), frozenset("Y"), frozenset("Z")
BACK_DOOR = LevelForm((Level(P(Z), {}), Level(P(Y, Z | X), {})), ("X",), "Y")


@dataclass(frozen=True)
class Counted:
    """Counts that stand for the laws of a model."""

    logged: NamedArray
    everyone: NamedArray
    n_levels: dict[str, int]

    def log(self) -> NamedArray:
        """Return the counts of the log."""
        return self.logged

    def law(self) -> NamedArray:
        """Return the counts of everyone."""
        return self.everyone


def count_all(source: BinaryReward) -> NamedArray:
    """Count a source by all it has."""
    return source.marginalize(source.names)


def read(form: LevelForm, sources: SplitSources, n_levels: dict[str, int]) -> FormReader:
    """Make the reader of a form."""
    return FormReader.of(form, sources, n_levels, Workspace.make_default())


def test_estimates_are_those_of_the_rest() -> None:
    """Random rules, whose columns are renamed, idle, fixed or of unknown law."""
    rng = np.random.default_rng(0)
    kinds = set[tuple[bool, bool, bool]]()
    tried = 0
    for asked, _, form in draw_forms():
        if not isinstance(form, LevelForm) or form.n_folds > 1 or len(form.levels) < 2:
            continue
        n_levels = dict(asked.model.n_levels)
        names = sorted(asked.model.graph.observed - {form.outcome})
        shape = (*(n_levels[name] for name in names), 2)
        if n_levels[form.outcome] != 2:
            continue
        sources = [
            make_binary(names, rng.integers(3, 40, size=shape).astype(float)) for _ in range(2)
        ]
        # The tables' reward is called Y; the form's outcome may have another name.
        named = [BinaryReward(source.table, form.outcome, 0.0, 1.0) for source in sources]
        split = split_sources(named[0], named[1:])
        reader = read(form, split, n_levels)
        rest = reader.read_rest(np.random.default_rng(1), numeric=False)
        pilot = reader.read_pilot(None)
        counted = Counted(
            count_all(split.log.folds[0]), count_all(split.population[0].folds[0]), n_levels
        )
        ends = evaluate_form(form, counted)  # type: ignore[arg-type]
        leaf = rest.arrays.weights[-1] * rest.last.mean
        for upper, dense in zip((False, True), ends, strict=True):
            expected = NamedArray((*form.axes, *form.idle), dense).at(reader.idle).values
            found = take_worst(reader.layout, leaf, [], upper=upper)
            np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected)
        assert all((weight > 0).all() for weight in pilot.arrays.weights)
        assert isinstance(rest.last, ValuedRest)
        drawn = [np.sum([block[i] for block in rest.last.blocks], axis=0) for i in (0, 1)]
        for one, other in zip(drawn, rest.last.counts, strict=True):
            np.testing.assert_allclose(one, other)
        kinds.add((bool(form.worst), bool(form.idle), any(lv.names for lv in form.levels)))
        tried += 1
    assert tried > 20
    assert {worst for worst, _, _ in kinds} == {False, True}
    assert {renamed for _, _, renamed in kinds} == {False, True}


def test_folds_are_read_apart() -> None:
    """Each level off its own fold, and the value's rewards off its."""
    form = LevelForm((Level(P(Z), {}), Level(P(Y, Z | X), {}, fold=1)), ("X",), "Y")
    rng = np.random.default_rng(2)
    log = make_binary(("Z", "X"), rng.integers(5, 30, size=(3, 2, 2)).astype(float))
    split = split_sources(log, (), n_folds=2)
    rest = read(form, split, {"X": 2, "Y": 2, "Z": 3}).read_rest(rng, numeric=False)
    zero, one = (count_all(fold) for fold in split.log.folds)
    rows = zero.marginalize("Z").values
    np.testing.assert_allclose(rest.arrays.weights[-1].reshape(-1), rows / rows.sum())
    np.testing.assert_allclose(rest.last.rows, one.marginalize(X | Z).align(("X", "Z")))


def test_idle_variables_are_chosen_on_the_pilot() -> None:
    """Rows of the rest alone never move the choice."""
    form = LevelForm((Level(P(Z), {}), Level(P(Y, Z | X), {})), (), "Y", idle=("X",))
    pilot = np.zeros((2, 2, 2))
    pilot[:, 1] = 3.0
    for arm in (0, 1):
        counts = np.ones((2, 2, 2))
        counts[:, arm] += 50.0
        found = read_apart(form, pilot, counts)
        assert found.idle == {"X": 1}


def read_apart(form: LevelForm, pilot: Floats, rest: Floats) -> FormReader:
    """Make the reader of a form on a pilot and a rest that are given."""
    one, other = (make_binary(("Z", "X"), counts) for counts in (pilot, rest))
    rows = SplitRows(one, (other,), (other,))
    return read(form, SplitSources(rows, ()), {"X": 2, "Y": 2, "Z": 2})


def test_pilot_is_as_large_as_the_rest_and_nowhere_empty() -> None:
    pilot = np.zeros((2, 2, 2))
    pilot[0, 0] = [2.0, 1.0]
    found = read_apart(BACK_DOOR, pilot, np.full((2, 2, 2), 25.0)).read_pilot(None)
    assert found.arrays.numbers[0].rows.values.sum() == pytest.approx(200.0)
    assert (found.last.rows > 0).all()
    assert ((found.last.mean > 0) & (found.last.mean < 1)).all()


def test_numeric_rewards_of_all_rows_speak() -> None:
    rewards = np.array([0.0, 0.25, 1.0])
    rng = np.random.default_rng(3)
    counts = rng.integers(5, 30, size=(2, 2, 3)).astype(float)
    split = split_sources(make_numeric(("Z", "X"), counts, rewards), ())
    reader = read(BACK_DOOR, split, {"X": 2, "Y": 2, "Z": 2})
    rest = reader.read_rest(rng, numeric=True)
    assert isinstance(rest.last, NumericRest)
    moved = np.moveaxis(counts, 0, 1)
    np.testing.assert_allclose(rest.last.rows, moved.sum(axis=-1))
    np.testing.assert_allclose(rest.last.sums, moved @ rewards)
    np.testing.assert_allclose(rest.last.squares, moved @ rewards**2)
    # Shares are those of the rest alone.
    fold = split.log.folds[0].marginalize(Z).values
    np.testing.assert_allclose(rest.arrays.weights[-1].reshape(-1), fold / fold.sum())
    assert reader.read_pilot(0.04).last.mean == 0.5


def test_exact_tables_are_read_as_they_are() -> None:
    law = np.array([0.3, 0.7])
    rng = np.random.default_rng(4)
    log = make_binary(("Z", "X"), rng.integers(5, 30, size=(2, 2, 2)).astype(float))
    form = LevelForm((Level(P(Z, logged=False), {}), Level(P(Y, Z | X), {})), ("X",), "Y")
    split = split_sources(log, [make_bare(("Z",), law, exact=True)])
    reader = read(form, split, {"X": 2, "Y": 2, "Z": 2})
    for arrays in (reader.read_pilot(None).arrays, reader.read_rest_arrays()):
        assert arrays.numbers[0].exact
        np.testing.assert_allclose(arrays.weights[-1].reshape(-1), law)

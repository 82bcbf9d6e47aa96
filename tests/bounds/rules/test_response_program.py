"""Response-type programs: closed forms, published examples, models that attain the ends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.proof import EndProof
from boundit.bounds.rules import response_program
from boundit.bounds.rules.response_program import (
    ArmProgram,
    ProgramEnds,
    ProgramLayout,
    solve_natural,
    solve_program,
)
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import Expression, P
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.terms.long_work import TimeBudget
from tests.bounds.programs import models, numbers, solved, specs, truth
from tests.oracles.balke_pearl import solve_balke_pearl

if TYPE_CHECKING:
    from boundit.simulation.tables import TableSpec

BOW, INSTRUMENT = "X -> Y; X <-> Y", "Z -> X -> Y; X <-> Y"
LUCKY_INSTRUMENT = "Z -> X -> Y; Z <-> X <-> Y"


def test_the_bow_has_manskis_natural_bounds() -> None:
    """60 random models of two and three levels, and the program without the closed form."""
    for model in models(BOW, 60, default_rng(0), levels=(2, 3)):
        (spec,) = specs(model.graph)
        law, known = model.law(), numbers(model.law())
        found = solved(spec, law)
        joint = law.align(("X", "Y"))

        assert np.allclose(found.lower, joint[:, 1], atol=1e-12)
        assert np.allclose(found.upper, 1 - joint[:, 0], atol=1e-12)
        layout = ProgramLayout(spec, known.levels)
        for arm in layout.arms:
            (part,) = layout.split_scenarios(arm) or []
            search = ArmProgram(layout, *part)
            search.set_law(*(end[0, [0]].ravel() for end in layout.read_law(known)))
            least, most = search.find_ends(np.ones(1), np.ones(1), TimeBudget(None))
            assert least.bound == pytest.approx(found.lower[arm["X"]], abs=1e-9)
            assert most.bound == pytest.approx(found.upper[arm["X"]], abs=1e-9)


@pytest.mark.parametrize("drawn", [INSTRUMENT, LUCKY_INSTRUMENT])
def test_the_instrument_has_the_bounds_of_balke_and_pearl(drawn: str) -> None:
    """60 random models each, near-deterministic ones among them."""
    rng = default_rng(1)
    for zeros in (0.0, 0.3):
        for model in models(drawn, 30, rng, zeros=zeros):
            law = model.law()
            if (law.marginalize("Z").values == 0).any():
                continue
            found = solved(specs(model.graph)[0], law)
            lower, upper = solve_balke_pearl(law.condition_on("Z").align(("Y", "X", "Z")))

            assert np.allclose(found.lower, lower, atol=1e-8)
            assert np.allclose(found.upper, upper, atol=1e-8)


LIPID = {(0, 0, 0): 0.919, (1, 0, 0): 0.081, (0, 0, 1): 0.315, (0, 1, 1): 0.139}
LIPID |= {(1, 0, 1): 0.073, (1, 1, 1): 0.473}
VITAMIN_A = {(1, 0, 0): 11_514, (0, 0, 0): 74, (1, 1, 1): 9_663, (0, 1, 1): 12}
VITAMIN_A |= {(1, 0, 1): 2_385, (0, 0, 1): 34}


@pytest.mark.parametrize(
    ("cells", "ace"), [(LIPID, (0.392, 0.780)), (VITAMIN_A, (-0.1946, 0.0054))]
)
def test_published_examples(
    cells: dict[tuple[int, int, int], float], ace: tuple[float, float]
) -> None:
    """Balke and Pearl (1997): cholesterol and vitamin A; the effect lies between these."""
    joint = np.zeros((2, 2, 2))
    for place, share in cells.items():
        joint[place] = share
    law = NamedArray(("Y", "X", "Z"), joint / joint.sum())

    found = solved(specs(parse(INSTRUMENT))[0], law)

    assert found.lower[1] - found.upper[0] == pytest.approx(ace[0], abs=5e-5)
    assert found.upper[1] - found.lower[0] == pytest.approx(ace[1], abs=5e-5)


def test_with_covariates_every_stratum_is_a_bow_or_an_instrument_of_its_own() -> None:
    rng = default_rng(2)
    for model in models("C -> X -> Y; C -> Y; Z -> X; X <-> Y; C -> Z", 15, rng):
        across = next(s for s in specs(model.graph, c="C") if s.varied == ("Z",))
        alone = next(s for s in specs(model.graph, c="C") if s.is_natural)
        law = model.law()
        found, coarse = solved(across, law), solved(alone, law)
        for c in range(2):
            lower, upper = solve_balke_pearl(
                law.condition_on(("Z", "C")).at({"C": c}).align(("Y", "X", "Z"))
            )
            assert np.allclose(found.lower[c], lower, atol=1e-8)
            assert np.allclose(found.upper[c], upper, atol=1e-8)
            joint = (
                law.marginalize(("C", "X", "Y"))
                .condition_on("C")
                .at({"C": c})
                .align(("X", "Y"))
            )
            assert np.allclose(coarse.lower[c], joint[:, 1])
            assert np.allclose(coarse.upper[c], 1 - joint[:, 0])


MANY = [
    BOW,
    INSTRUMENT,
    LUCKY_INSTRUMENT,
    "X -> M -> Y; X -> Y; X <-> Y; Z -> X",
    "X -> M -> Y; X <-> Y <-> M; Z -> X",
    "X -> M -> Y; X <-> M",
    "A -> Z -> Y; A <-> Y; A -> X -> Y; X <-> Y",
    "A -> X -> Y; A <-> X <-> Y; B -> X; B <-> A",
    "C -> X -> Y; C <-> Y; X <-> Y; Z -> X; Z <-> C",
]


@pytest.mark.parametrize("zeros", [0.0, 0.4])
@pytest.mark.parametrize("drawn", MANY)
def test_every_program_alone_holds_the_truth_and_fits_its_own_model(
    drawn: str, zeros: float
) -> None:
    for model in models(drawn, 4, default_rng(3), levels=(2, 3), zeros=zeros):
        for spec in specs(model.graph):
            found, value = solved(spec, model.law()), truth(model, spec)
            assert not found.empty.any(), spec
            assert (found.lower <= value + 1e-9).all(), spec
            assert (value <= found.upper + 1e-9).all(), spec


@pytest.mark.parametrize("drawn", [BOW, INSTRUMENT, LUCKY_INSTRUMENT])
def test_some_model_of_the_graph_attains_each_end(drawn: str) -> None:
    """Sharp: the solver's own point is a law of types, hence a model with the same log."""
    for model in models(drawn, 4, default_rng(4), levels=(2, 3)):
        spec, law = specs(model.graph)[0], model.law()
        known = numbers(law)
        layout, found = ProgramLayout(spec, known.levels), solved(spec, law)
        for arm in layout.arms:
            (part,) = layout.split_scenarios(arm) or []
            search = ArmProgram(layout, *part)
            search.set_law(*(end[0].ravel() for end in layout.read_law(known)))
            ends = search.find_ends(np.ones(1), np.ones(1), TimeBudget(None))
            for best, end in zip(ends, (found.lower, found.upper), strict=True):
                made = model_of(search, best.point, model, arm["X"])
                assert np.allclose(made.law().values, law.values, atol=1e-7)
                effect = made.effect(outcomes="Y", treatments="X").at({"Y": 1} | arm)
                assert float(effect) == pytest.approx(end[arm["X"]], abs=1e-7)


def model_of(search: ArmProgram, point: Floats, like: Model, arm: int) -> Model:
    """The model in which a hidden cause chooses the run: X by Z, Y by X."""
    x, y = search.runs.runs
    n_types, n_scenarios = len(point), len(search.scenarios)
    n_x = like.n_levels["X"]
    tables: dict[str, TableSpec] = {
        "Type": ([], np.maximum(point, 0) / np.maximum(point, 0).sum())
    }
    chosen = np.zeros((n_types, n_scenarios, n_x))
    paid = np.zeros((n_types, n_x, 2))
    for t in range(n_types):
        pays = dict(zip(x[:n_scenarios, t], y[:n_scenarios, t], strict=True)) | {arm: y[-1, t]}
        chosen[t, range(n_scenarios), x[:n_scenarios, t]] = 1
        paid[t, range(n_x), [pays.get(level, 0) for level in range(n_x)]] = 1
    tables["Y"] = (["Type", "X"], paid)
    if n_scenarios == 1:
        tables["X"] = (["Type"], chosen[:, 0])
    else:
        tables["X"] = (["Type", "Z"], chosen)
        tables["Z"] = ([], like.law("Z").values)
    return Model(like.graph, tables)


def test_the_instrument_is_tighter_than_the_whole_component() -> None:
    """Section 3.4: the larger program drops that Z and Y share no hidden cause."""
    tighter = 0
    for model in models(LUCKY_INSTRUMENT, 10, default_rng(5)):
        seen, whole, alone = (solved(spec, model.law()) for spec in specs(model.graph))
        assert (seen.lower >= whole.lower - 1e-9).all()
        assert (whole.lower >= alone.lower - 1e-9).all()
        tighter += int((seen.upper - seen.lower < whole.upper - whole.lower - 1e-4).any())
    assert tighter


def test_a_proof_adds_up_to_the_end_it_proves() -> None:
    for model in models(INSTRUMENT, 20, default_rng(6), levels=(2, 3)):
        law = model.law()
        across, alone = specs(model.graph)
        for spec in (across, alone):
            found = solved(spec, law)
            given = (
                law.condition_on(spec.varied) if spec.varied else law.marginalize(("X", "Y"))
            )
            for (place, upper), write in found.proofs.items():
                proof = write()
                end = found.upper[place] if upper else found.lower[place]
                assert added(proof) == pytest.approx(end, abs=1e-8)
                for _, cell, value in proof.terms:
                    assert value == pytest.approx(float(given.at(cell)), abs=1e-12)


def added(proof: EndProof) -> float:
    return proof.constant + sum(times * value for times, _, value in proof.terms)


def test_split_scenarios_hold_too_and_are_wider() -> None:
    for model in models(INSTRUMENT, 12, default_rng(7), levels=(2, 3)):
        spec = specs(model.graph)[0]
        if model.n_levels["X"] + model.n_levels["Z"] < 6:
            continue
        law, value = model.law(), truth(model, spec)
        known = numbers(law)
        whole = solved(spec, law)
        layout = ProgramLayout(spec, known.levels, most=60)
        assert len(layout.split_scenarios({"X": 0}) or []) > 1
        split = solve_program(layout, known, TimeBudget(None))

        assert not split.left_out
        assert (split.lower <= whole.lower + 1e-9).all()
        assert (whole.upper <= split.upper + 1e-9).all()
        assert (split.lower <= value).all()
        assert (value <= split.upper).all()


def test_too_many_types_for_one_scenario_leave_the_program_out() -> None:
    (model,) = models(INSTRUMENT, 1, default_rng(8))
    known = numbers(model.law())
    found = solve_program(
        ProgramLayout(specs(model.graph)[0], known.levels, most=3), known, TimeBudget(None)
    )

    assert found.left_out
    assert (found.lower == 0).all()
    assert (found.upper == 1).all()


def test_time_that_is_over_leaves_ends_that_hold() -> None:
    model = next(models("Z -> X -> M -> Y; X <-> Y <-> M", 1, default_rng(9), levels=(2,)))
    spec = specs(model.graph)[0]
    known, value = numbers(model.law()), truth(model, spec)
    budget = TimeBudget(0.0)
    found = solve_program(ProgramLayout(spec, known.levels), known, budget)

    assert budget.count_seconds() == 0.0
    assert TimeBudget(None).count_seconds() is None
    assert (found.lower <= value).all()
    assert (value <= found.upper).all()
    assert found.unfinished


def test_a_law_that_no_model_has_is_empty() -> None:
    """The instrumental inequality: Y turns with Z though X stays as it is."""
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0] = joint[1, 0, 1] = 0.5

    found = solved(specs(parse(INSTRUMENT))[0], NamedArray(("Z", "X", "Y"), joint))

    assert found.empty.all()
    assert (found.lower == 0).all()
    assert (found.upper == 1).all()


def test_natural_bounds_use_what_the_other_cells_leave() -> None:
    """Cells known up to intervals: P(x=1, y=1) is at least what no other cell can hold."""

    class Wide:
        levels = {"X": 2, "Y": 2}  # noqa: RUF012
        workspace = Workspace.make_default()

        def read_ends(self, _: object, __: object) -> tuple[Floats, Floats]:
            low = np.array([[0.1, 0.1], [0.1, 0.0]])
            return low, np.array([[0.2, 0.2], [0.2, 1.0]])

        def find_error(self, term: P) -> None:
            """Nothing here allows for chance."""

    (spec,) = specs(parse(BOW))
    found: ProgramEnds = solve_natural(ProgramLayout(spec, Wide.levels), Wide())

    assert found.lower == pytest.approx([0.1, 0.4])
    assert found.upper == pytest.approx([0.9, 0.9])
    layout = ProgramLayout(spec, Wide.levels)
    for arm in layout.arms:
        (part,) = layout.split_scenarios(arm) or []
        search = ArmProgram(layout, *part)
        search.set_law(*(end.ravel() for end in layout.read_law(Wide())))
        ends = search.find_ends(np.ones(1), np.ones(1), TimeBudget(None))
        assert ends[0].bound == pytest.approx(found.lower[arm["X"]])
        assert ends[1].bound == pytest.approx(found.upper[arm["X"]])


@final
class Blurred:
    """Numbers known to lie between those of two laws."""

    def __init__(self, one: NamedArray, other: NamedArray) -> None:
        self.both = numbers(one), numbers(other)
        self.levels, self.workspace = self.both[0].levels, self.both[0].workspace

    def read_ends(self, formula: Expression, wanted: Sequence[str]) -> tuple[Floats, Floats]:
        ends = [known.read_ends(formula, wanted) for known in self.both]
        return np.minimum(*(low for low, _ in ends)), np.maximum(*(high for _, high in ends))

    def find_error(self, term: P) -> None:
        """Nothing here allows for chance."""


@pytest.mark.parametrize("drawn", [INSTRUMENT, "X -> M -> Y; X -> Y; X <-> Y; Z -> X"])
def test_intervals_around_two_models_hold_the_truth_of_both(drawn: str) -> None:
    """And a proof adds up to its end when it uses the worst end of every interval."""
    pairs = list(models(drawn, 16, default_rng(10)))
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        blurred = Blurred(one.law(), other.law())
        for spec in specs(one.graph):
            found = solve_program(
                ProgramLayout(spec, blurred.levels), blurred, TimeBudget(None)
            )
            for model in (one, other):
                value = truth(model, spec)
                assert (found.lower <= value + 1e-9).all()
                assert (value <= found.upper + 1e-9).all()
            for (place, upper), write in found.proofs.items():
                proof = write()
                end = found.upper[place] if upper else found.lower[place]
                assert added(proof) == pytest.approx(end, abs=1e-8)


MEDIATED = "X -> M -> Y; X -> Y; X <-> Y"


def test_the_law_has_a_row_for_every_condition_and_scenario_that_sums_to_one() -> None:
    for model in models("C -> X -> Y; C -> Y; Z -> X; X <-> Y", 5, default_rng(0), (2, 3)):
        known = numbers(model.law())
        spec = specs(model.graph, c="C")[0]
        low, high = ProgramLayout(spec, known.levels).read_law(known)

        n = model.n_levels
        assert low.shape == (n["C"], n["Z"], n["X"] * 2)
        assert np.allclose(low.sum(axis=-1), 1)
        assert (low == high).all()


def test_known_factors_weigh_the_target() -> None:
    (model,) = models(MEDIATED, 1, default_rng(1))
    known = numbers(model.law())
    layout = ProgramLayout(specs(model.graph)[0], known.levels)

    low, high = layout.read_weights(known)

    assert layout.target == ("M", "Y")
    assert layout.known == [{"M": 0}, {"M": 1}]
    mediator = model.law().marginalize(("M", "X")).condition_on("X").align(("X", "M"))
    assert low[0].reshape(2, 2, 2)[..., 0] == pytest.approx(mediator)
    assert (low == high).all()


def test_scenarios_are_split_until_there_is_room_and_work_has_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (spec, _) = specs(parse("Z -> X -> Y; X <-> Y"))
    layout = ProgramLayout(spec, {"X": 2, "Y": 2, "Z": 2})

    assert len(layout.split_scenarios({"X": 0}) or []) == 1
    layout = ProgramLayout(spec, {"X": 2, "Y": 2, "Z": 2}, most=13)
    assert [scenarios for _, scenarios in layout.split_scenarios({"X": 0}) or []] == [[0], [1]]
    monkeypatch.setattr(response_program, "MOST_WORK", 100)
    assert layout.split_scenarios({"X": 0}) is None

"""The scenes, cells and numbers of one program."""

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.rules import type_layout
from boundit.bounds.rules.type_layout import ProgramLayout
from boundit.graph.text import parse
from tests.bounds.programs import models, numbers, specs

MEDIATED = "X -> M -> Y; X -> Y; X <-> Y"


def test_the_law_has_a_row_for_every_condition_and_scene_that_sums_to_one() -> None:
    for model in models("C -> X -> Y; C -> Y; Z -> X; X <-> Y", 5, default_rng(0), (2, 3)):
        known = numbers(model.law())
        spec = specs(model.graph, c="C")[0]
        low, high = ProgramLayout(spec, known.levels).law(known)

        n = model.n_levels
        assert low.shape == (n["C"], n["Z"], n["X"] * 2)
        assert np.allclose(low.sum(axis=-1), 1)
        assert (low == high).all()


def test_known_factors_weigh_the_target() -> None:
    (model,) = models(MEDIATED, 1, default_rng(1))
    known = numbers(model.law())
    layout = ProgramLayout(specs(model.graph)[0], known.levels)

    low, high = layout.weights(known)

    assert layout.target == ("M", "Y")
    assert layout.known == [{"M": 0}, {"M": 1}]
    mediator = model.law().marginal(("M", "X")).given("X").aligned(("X", "M"))
    assert low[0].reshape(2, 2, 2)[..., 0] == pytest.approx(mediator)
    assert (low == high).all()


def test_scenes_are_parted_until_there_is_room_and_work_has_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (spec, _) = specs(parse("Z -> X -> Y; X <-> Y"))
    layout = ProgramLayout(spec, {"X": 2, "Y": 2, "Z": 2})

    assert len(layout.parts({"X": 0}) or []) == 1
    layout = ProgramLayout(spec, {"X": 2, "Y": 2, "Z": 2}, most=13)
    assert [scenes for _, scenes in layout.parts({"X": 0}) or []] == [[0], [1]]
    monkeypatch.setattr(type_layout, "MOST_WORK", 100)
    assert layout.parts({"X": 0}) is None

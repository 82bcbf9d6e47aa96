"""Every producer of confidence bounds, on drawn logs of models whose probabilities are known."""

from math import log
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binom

from boundit.bounds.chain import Chain
from boundit.bounds.inference.exact import find_sum
from boundit.bounds.inference.forms import SumForm
from boundit.bounds.inference.pilot import make_streams, split_evidence
from boundit.bounds.inference.ratios import RatioBound, make_ratio_bound
from boundit.bounds.inference.sums import (
    CellBound,
    Mixture,
    NaturalBound,
    SumBound,
    make_sum_bound,
)
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.bounds.core import make_run
from tests.bounds.inference.problems import pose

ERROR, LOGS = 0.2, 40
WORLDS: dict[str, tuple[str, Any]] = {
    "strata": ("A -> X; A -> Y; X -> Y", SumBound),
    "front door": ("X -> M -> Y; X <-> Y", SumBound),
    "unknown within a sum": ("A -> X; A -> B; A -> Y; X -> Y; B -> Y; B <-> [S]", SumBound),
    "ratio": ("W -> Z -> X -> Y; W <-> X; W <-> Y", RatioBound),
    "natural": ("X -> Y; X <-> Y", NaturalBound),
    "cells": ("X -> Y", CellBound),
}


@pytest.mark.parametrize("world", WORLDS)
def test_each_endpoint_misses_no_more_often_than_it_says(world: str) -> None:
    graph, kind = WORLDS[world]
    drawn, query, rng = parse(graph), parse_query("Y | do(X)"), default_rng(len(world))
    model = draw_model(drawn, rng, levels=(2,), floor=0.02)
    law, seen, misses = model.log(), False, np.zeros((2, 2))
    codes = np.indices(law.values.shape).reshape(law.values.ndim, -1)
    columns = dict(zip(law.axes, codes, strict=True))
    domain = {name: [0, 1] for name in law.axes if name != "Y"}
    for _ in range(LOGS):
        n = rng.multinomial(int(rng.integers(20, 400)), law.values.ravel())
        rows = {name: np.repeat(own, n).tolist() for name, own in columns.items()}
        rules, evidence = pose(graph, "Y | do(X)", rows, domain=domain)
        for chain in rules:
            form = find_sum(chain, evidence)
            if not isinstance(form, SumForm) or not isinstance(chain, Chain):
                continue
            make: Any = make_ratio_bound if form.divided else make_sum_bound
            (stream,) = make_streams(evidence, 1)
            made: Any = make(form, evidence, split_evidence(evidence), stream)
            if not isinstance(made, kind):
                continue
            seen, truth = True, chain.bound(make_run(model, query))
            error = np.full(1, log(1 / ERROR))
            for upper, end in zip((False, True), truth, strict=True):
                found = made.bound(made.choose(error, upper=upper), error, upper=upper)
                off = found - end if not upper else end - found
                misses[int(upper)] += np.broadcast_to(off > 1e-9, (2,))
            break
    assert seen
    assert (misses <= binom.ppf(1 - 1e-5, LOGS, ERROR)).all()


@pytest.mark.parametrize("above_zero", [0.05, 0.5])
def test_sums_of_numeric_outcomes_miss_no_more_often_than_they_say(above_zero: float) -> None:
    rng, misses = default_rng(7), np.zeros((2, 2))
    share, mean = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.4, 0.9])
    truth = np.full(2, share @ mean * above_zero)
    for _ in range(LOGS):
        n = int(rng.integers(150, 600))
        z = rng.choice(3, n, p=share)
        x = (rng.random(n) < 0.2 + 0.3 * z).astype(int)
        y = (rng.random(n) < above_zero) * rng.beta(20 * mean[z], 20 * (1 - mean[z]))
        rows = {"A": z.tolist(), "X": x.tolist(), "Y": y.round(3).tolist()}
        every = {"A": [0, 1, 2], "X": [0, 1]}
        rules, evidence = pose(
            "A -> X; A -> Y; X -> Y", "Y | do(X)", rows, outcome_range=(0, 1), domain=every
        )
        form = find_sum(next(r for r in rules if r.is_identified), evidence)
        assert isinstance(form, SumForm)
        (stream,) = make_streams(evidence, 1)
        made = make_sum_bound(form, evidence, split_evidence(evidence), stream)
        assert not evidence.is_numeric or isinstance(made, Mixture)
        error = np.full(1, log(1 / ERROR))
        for upper in (False, True):
            found = made.bound(made.choose(error, upper=upper), error, upper=upper)
            misses[int(upper)] += (truth > found + 1e-3) if upper else (truth < found - 1e-3)
    assert (misses <= binom.ppf(1 - 1e-5, LOGS, ERROR)).all()

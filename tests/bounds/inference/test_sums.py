"""Bounds on sums of products by all logs of a few rows: exponents have mean at most one."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest

from boundit.bounds.evidence import Counts, Evidence
from boundit.bounds.inference.exact import find_sum
from boundit.bounds.inference.forms import SumForm
from boundit.bounds.inference.pilot import Split, split_evidence
from boundit.bounds.inference.sums import Choice, Chooser, FormReader, SumBound, Supposed
from boundit.counts.log import read_log
from boundit.counts.named_array import Floats
from tests.bounds.inference.problems import pose

N_ROWS = 4


def list_logs(law: Floats) -> Iterator[tuple[dict[str, list[int]], float]]:
    """All logs of a few rows of three 0/1 columns, as counts, with their probabilities."""
    flat, shape = law.ravel(), law.shape
    for rows in combinations_with_replacement(range(flat.size), N_ROWS):
        cells, counts = np.unique(rows, return_counts=True)
        ways = factorial(N_ROWS) / np.prod([factorial(int(k)) for k in counts])
        codes = np.array(np.unravel_index(cells, shape))
        yield (
            {"A": codes[0].tolist(), "B": codes[1].tolist(), "Y": codes[2].tolist(),
             "n": counts.tolist()},
            float(ways * np.prod(flat[cells] ** counts)),
        )  # fmt: skip


def draw_law(seed: int) -> Floats:
    """A skewed joint distribution of A, then B, then Y."""
    rng = np.random.default_rng(seed)
    a, b, y = rng.beta(0.6, 0.6), rng.beta(0.6, 0.6, 2), rng.beta(0.6, 0.6, (2, 2))
    first = np.array([1 - a, a])[:, None, None]
    second = np.stack([1 - b, b], axis=-1)[:, :, None]
    return np.asarray(first * second * np.stack([1 - y, y], axis=-1))


def given_both(law: Floats) -> Floats:
    """P(Y = 1 | a, b)."""
    return np.asarray(law[..., 1] / law.sum(axis=-1))


def adjust(law: Floats) -> Floats:
    """``sum_a P(a) P(y | a, b)`` for each b."""
    return np.asarray(law.sum(axis=(1, 2)) @ given_both(law))


def front_door(law: Floats) -> Floats:
    """``sum_b P(b | a) sum_a' P(a') P(y | a', b)`` for each a."""
    conditional = law.sum(axis=2) / law.sum(axis=(1, 2))[:, None]
    return np.asarray(conditional @ adjust(law))


WORLDS = {
    "back door": ("A -> B; A -> Y; B -> Y", "Y | do(B)", adjust),
    "front door": ("A -> B -> Y; A <-> Y", "Y | do(A)", front_door),
}


def read_form(graph: str, query: str) -> tuple[SumForm, Evidence]:
    """The sum that identifies an effect, and evidence to put logs into."""
    every = {name: [0, 1] for name in "ABY"}
    rules, evidence = pose(graph, query, every)
    rule = next(rule for rule in rules if rule.is_identified)
    form = find_sum(rule, evidence)
    assert isinstance(form, SumForm)
    return form, evidence


def make_bound(
    form: SumForm, evidence: Evidence, log: dict[str, list[int]], variance: float
) -> SumBound:
    """Bounds on one log; a supposed variance decides between betting and Hoeffding."""
    table = read_log(log, weight="n").count(["A", "B"], reward="Y")
    counts = Counts(table.add_levels({"A": range(2), "B": range(2)}), "Y")
    own = replace(evidence, log=counts, population=(counts,), _counted={})
    reader = FormReader(form, own, {id(counts): Split(counts, counts, counts)})
    values = reader.read_pilot(Supposed(variance))
    chooser = Chooser(reader.read_arrays(pilot=True), values)
    last = reader.read_rest(np.random.default_rng(0))
    return SumBound(chooser, reader.read_arrays(pilot=False), last)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("scale", "variance"), [(1.5, 0.5), (2.0, 0.01)])
def test_exponents_have_mean_at_most_one(world: str, scale: float, variance: float) -> None:
    graph, query, find_truth = WORLDS[world]
    form, evidence = read_form(graph, query)
    law = draw_law(3)
    truth, total = find_truth(law), np.zeros((2, 2))
    spread = tuple(np.zeros(2, dtype=bool) for _ in form.factors[:-1])
    choice = Choice(np.full(2, scale), spread, np.zeros(2))
    for log, chance in list_logs(law):
        made = make_bound(form, evidence, log, variance)
        for upper in (False, True):
            value, _ = made.weigh(choice, np.full(2, 3.0), upper=upper)
            sign = -1 if upper else 1
            total[int(upper)] += chance * np.exp(sign * scale * (value - truth))
    assert (total <= 1 + 1e-9).all()
    assert total.max() > 0.6  # little is given away


def test_pilot_and_rest_are_the_whole_log() -> None:
    rng = np.random.default_rng(1)
    a, b, y = rng.integers(2, size=(3, 5_000))
    _, evidence = pose("A -> B; A -> Y; B -> Y", "Y | do(B)", {"A": a, "B": b, "Y": y})
    (split,) = split_evidence(evidence).values()
    names = frozenset("ABY")

    def count(part: Counts) -> Floats:
        return part.marginalize(names).align(("A", "B", "Y"))

    assert np.array_equal(count(split.pilot) + count(split.rest), count(evidence.log))
    assert 0.01 < split.pilot.table.rows / 5_000 < 0.06

"""Why sampling moves an endpoint: effective rows, heaviest cells, unseen strata, reasons."""

import numpy as np
import pytest

from boundit.bounds.inference import Approximate, Exact
from boundit.counts.log import read_log
from tests.bounds.inference.problems import pose

COUNTS = {
    "Z": [0, 0, 0, 0, 1, 1, 1, 1, 2],
    "X": [0, 0, 1, 1, 0, 0, 1, 1, 0],
    "Y": [0, 1, 0, 1, 0, 1, 0, 1, 1],
    "n": [150, 200, 90, 60, 40, 60, 200, 100, 100],
}


@pytest.mark.parametrize("inference", [Exact(), Approximate()])
def test_rows_of_a_back_door_count_by_their_weights(inference: Exact | Approximate) -> None:
    rules, evidence = pose("Z -> X; Z -> Y; X -> Y", "Y | do(X)", read_log(COUNTS, weight="n"))
    found = inference.bound(rules, evidence)
    rule = next(rule for rule in found.rules if rule.is_identified)

    told = found.sampling(rule, (1,), upper=False)

    assert told is not None
    assert told.unseen_weight == pytest.approx(0.1)  # Z = 2 has no row with X = 1
    weights, rows = np.array([0.5, 0.4]), np.array([150, 300])
    assert told.effective_rows == pytest.approx(0.9**2 / (weights**2 / rows).sum())
    assert told.heaviest[0].levels == (("X", 1), ("Z", 0))
    assert told.heaviest[0].rows == 150
    assert sum(cell.share for cell in told.heaviest) == pytest.approx(1.0)


def test_the_worst_cell_of_an_unknown_variable_is_named() -> None:
    rng = np.random.default_rng(0)
    w, x = rng.integers(2, size=(2, 4_000))
    log = {"W": w, "X": x, "Y": (rng.random(4_000) < 0.2 + 0.6 * w).astype(int)}
    rules, evidence = pose("X -> W -> Y; X -> Y; W -> [S]", "Y | do(X)", log)
    found = Exact().bound(rules, evidence)
    rule = found.rules[int(found.lower_by[0]) - 1]

    low, high = (found.sampling(rule, (0,), upper=upper) for upper in (False, True))

    assert low is not None
    assert high is not None
    assert dict(low.heaviest[0].levels)["W"] == 0
    assert dict(high.heaviest[0].levels)["W"] == 1


def test_rules_that_are_no_sums_say_so() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(2, 1_000))
    rules, evidence = pose(
        "X -> Y; Y -> [S]", "Y | do(X)", {"X": x, "Y": y}, selection_rate=0.5
    )
    found = Exact().bound(rules, evidence)
    rule = next(rule for rule in found.rules if rule.reweightings)

    told = found.sampling(rule, (0,), upper=False)

    assert told is not None
    assert told.boxes == "it is not a sum of products"

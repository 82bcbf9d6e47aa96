import numpy as np

from boundit.bounds.approximate.explain_end import explain_end
from boundit.bounds.approximate.flat_rule import flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds
from boundit.counts.read import read_log
from tests.bounds.approximate.logs import BACK_DOOR, read_counts, read_evidence


def test_the_heaviest_cells_are_those_that_add_most_to_the_variance() -> None:
    log = read_log(
        {
            "Z": [0, 0, 0, 0, 1, 1, 1, 1],
            "X": [0, 0, 1, 1, 0, 0, 1, 1],
            "Y": [0, 1, 0, 1, 0, 1, 0, 1],
            "n": [200, 200, 200, 200, 390, 390, 10, 10],
        },
        weight="n",
    )
    counts = read_counts(read_evidence(BACK_DOOR, log.count(["Z", "X"], reward="Y")))
    flat = flatten_rule(BACK_DOOR.rules[0].rule, counts.levels)
    assert flat is not None
    found = FormulaEnds(flat, counts, 0.01).find(upper=True)

    told = explain_end(found, (1,), counts, "because")

    assert told.boxes == "because"
    assert told.unseen_weight == 0
    assert told.effective_rows is not None
    assert np.isclose(told.effective_rows, 1 / (0.25 / 400 + 0.25 / 20))
    first, second = told.heaviest
    assert (first.levels, first.rows) == ((("Z", 1), ("X", 1)), 20)
    assert (second.levels, second.rows) == ((("Z", 0), ("X", 1)), 400)
    assert np.isclose(first.share + second.share, 1)

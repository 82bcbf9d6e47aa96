import numpy as np
import pytest

import boundit.bounds.approximate.rule_end as module
from boundit.bounds.approximate.flat_rule import flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds
from boundit.bounds.approximate.influences import LineInfluence
from boundit.bounds.approximate.rule_end import RuleEnd, make_rule_end
from boundit.counts.errors import TooLarge
from tests.bounds.approximate.logs import BACK_DOOR, Strata, read_counts, read_evidence


def make(n_rows: int, *, apart: bool = True) -> tuple[RuleEnd, LineInfluence]:
    table = Strata(3).draw(n_rows, np.random.default_rng(0))
    counts = read_counts(read_evidence(BACK_DOOR, table))
    flat = flatten_rule(BACK_DOOR.rules[0].rule, counts.levels)
    assert flat is not None
    lines = LineInfluence(counts)
    found = FormulaEnds(flat, counts, 0.01).find(upper=False)
    return make_rule_end(found, 1, lines, apart=apart), lines


def test_errors_of_terms_apart_are_those_of_all_lines_together() -> None:
    np.testing.assert_allclose(make(4_000)[0].error, make(4_000, apart=False)[0].error)


def test_few_rewards_are_not_trusted() -> None:
    assert make(4_000)[0].is_trusted.all()
    assert not make(40)[0].is_trusted.any()


def test_ends_lie_below_the_estimate_and_within_the_range() -> None:
    end, lines = make(40)

    assert (end.find_ends(2.0) < end.found.value).all()
    assert (end.find_ends(100.0) == 0).all()
    assert end.list_claims(2.0).places.tolist() == [[0], [1]]
    told = end.explain((1,), 2.0, lines.counts, None)
    assert told.effective_rows is not None
    assert 0 < told.effective_rows < 40


def test_too_many_influences_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_INFLUENCES", 3)

    with pytest.raises(TooLarge):
        make(40, apart=False)

"""Which rules end in a program that claims can be made of, and as which sum."""

import pytest

from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.claims.programs.program_form import ProgramForm, find_program_form
from boundit.bounds.rules.chain import ChainSearch
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from tests.bounds.claims.programs.rules import (
    BOW,
    INSTRUMENT,
    MEDIATOR,
    STRATA,
    find_form_with,
    list_forms,
    list_rules,
)


def test_instrument_is_one_level() -> None:
    sharp, natural = list_forms(INSTRUMENT)
    assert [len(form.form.levels) for form in (sharp, natural)] == [1, 1]
    assert sharp.law.given == {"Z"}
    assert not natural.law.given
    assert sharp.place == ("X",)
    assert not sharp.summed
    assert sharp.form.last.names == {"X": "X'"}  # beside the arm


def test_program_in_strata_is_a_sum_over_them() -> None:
    form = find_form_with(STRATA, "W", "Z")
    first, last = form.form.levels
    assert first.of == {"W"}
    assert last.given == {"W", "Z"}
    assert form.place == ("W", "X")


def test_unknown_link_is_a_worst_variable() -> None:
    forms = [form for form in list_forms(MEDIATOR) if form.form.worst]
    assert forms
    assert all(form.form.worst == ("M",) for form in forms)
    assert all(not form.summed and form.place == ("M", "X") for form in forms)
    assert all(form.form.last.names["M"] == "M'" for form in forms)


def test_context_that_the_program_does_not_ask_for_is_another_variable() -> None:
    sharp, _ = list_forms(INSTRUMENT, "Y | do(X), Z")
    assert sharp.form.last.names == {"X": "X'", "Z": "Z'"}
    assert sharp.place == ("X",)


@pytest.mark.parametrize(
    ("drawn", "reason"),
    [
        (STRATA, "weighs response types"),
        ("X -> M -> Y; X <-> Y; X -> Y", "no single factor"),
    ],
)
def test_reason_is_given(drawn: str, reason: str) -> None:
    found = [find_program_form(rule, parse(drawn)) for rule in list_rules(drawn)]
    assert any(isinstance(each, Unmet) and reason in each.reason for each in found)


def test_formulas_are_left_to_sums() -> None:
    graph, query = parse("Z -> X -> Y; Z -> Y"), parse_query("Y | do(X)")
    (chain,) = (c for c in ChainSearch(graph, query).find_chains(longest=1) if c.links)
    assert isinstance(find_program_form(chain, graph), Unmet)


def test_natural_bounds_have_a_form() -> None:
    (form,) = list_forms(BOW)
    assert isinstance(form, ProgramForm)
    assert form.program.is_natural


def test_natural_bounds_of_strata_are_those_of_all_rows_together() -> None:
    """Summed over strata, ``P(w) P(x, y | w)`` is ``P(x, y)``."""
    for summed in ("", "W", "Z"):
        assert find_form_with(STRATA, summed, "").pooled_place == ("X",)
    assert find_form_with(STRATA, "W", "Z").pooled_place is None

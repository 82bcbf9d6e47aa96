"""The first words of a page: which arms are out, what to use where, how sure that is."""

from dataclasses import replace

import pytest

from boundit.bounds.derive import derive_bounds
from boundit.core.message import Caveat
from boundit.estimand.query import EffectQuery
from boundit.report.pages.bound_answer import MOST_GROUPS, make_bound_answer
from boundit.report.pages.page_answer import PageAnswer
from boundit.results.bound_table import BoundTable
from boundit.simulation.environments import paper_environment
from tests.report.examples import large_table, small_table
from tests.report.pages.test_use_groups import make_table


def answer(table: BoundTable, *, chosen: bool = True, dominated: int = 0) -> PageAnswer:
    query = EffectQuery((table.outcome,), table.treatments, table.context)
    choice = table.choose() if chosen else None
    return make_bound_answer(table, query, choice, dominated=dominated, drawn=True)


BEST = {"A": (0.1, 0.2), "B": (0.3, 0.4), "C": (0.1, 0.25)}
OTHER = {"A": (0.5, 0.6), "B": (0.3, 0.4), "C": (0.1, 0.25)}
OPEN = {"A": (0.1, 0.4), "B": (0.3, 0.6), "C": (0.1, 0.2)}
TIED = {"A": (0.1, 0.4), "B": (0.1, 0.4), "C": (0.0, 0.05)}
BLANK = {"A": (0.0, 1.0), "B": (0.0, 1.0), "C": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ({"x": BEST}, "Highest mean: B, whatever is true."),
        ({"x": OPEN}, "Which mean is highest stays open; B falls least short of the highest."),
        ({"x": TIED}, "It cannot be told which mean is highest: that of A or B."),
        ({"x": BLANK}, "Nothing can be told: every interval is as wide as the scale."),
        ({"x": BEST, "y": BEST}, "B has the highest mean in every context."),
        (
            {"x": BEST, "y": OPEN},
            "B has the highest mean in 1 of 2 contexts, and falls least short of the highest "
            "in the other.",
        ),
        (
            {"x": OPEN, "y": OPEN},
            "B falls least short of the highest in all 2 contexts; which mean is highest "
            "stays open.",
        ),
        ({"x": BEST, "y": OTHER}, "The highest mean is known in all 2 contexts."),
        ({"x": BEST, "y": TIED, "z": OTHER}, "The highest mean is known in 2 of 3 contexts."),
        ({"x": TIED, "y": TIED}, "The highest mean is known in none of the 2 contexts."),
        (
            {"x": BLANK, "y": BLANK},
            "Nothing can be told: every interval is as wide as the scale.",
        ),
        (
            {"x": {"A": (0.2, 0.5)}, "y": {"A": (0.1, 0.4)}},
            "A, the only arm, has a mean between 0.100 and 0.500 in each of 2 contexts.",
        ),
        ({"x": {"A": (0.2, 0.5)}}, "A, the only arm, has a mean between 0.200 and 0.500."),
    ],
)
def test_the_verdict_is_one_sentence_that_claims_no_more_than_is_known(
    rows: dict[str, dict[str, tuple[float, float]]], verdict: str
) -> None:
    assert answer(make_table(rows)).verdict == verdict


def test_arms_that_are_out_everywhere_are_named() -> None:
    (said,) = answer(make_table({"x": BEST, "y": OTHER})).said

    assert "Out in every context: C. " in str(said)
    assert "Of 6 pairs of arm and context 4 are out" in str(said)
    assert "No arm is ruled out." in str(answer(make_table({"x": BLANK})).said[0])


def test_it_says_how_sure_it_is() -> None:
    table = small_table()
    sure = "Confidence 0.95, for everything said here at once (exact inference)."
    assert str(answer(table).said[0]).endswith(sure)
    near = answer(replace(table, inference="approximate")).said[0]
    assert str(near).endswith("(approximate inference, for large logs).")
    assert "plug-in ends" in str(answer(small_table(confidence=None)).said[0])
    given = answer(make_table({"x": BEST})).said[0]
    assert "which were given and not derived" in str(given)


def test_it_says_what_it_rests_on_and_what_to_heed_first() -> None:
    table = replace(
        small_table(),
        confounding_limit={"X1 <-> Y": 1.5},
        caveats=(Caveat("one"), Caveat("two")),
    )
    basis = answer(table).basis

    assert "on each arrow that is missing" in str(basis["Rests on"])
    assert "12,004 logged rows" in str(basis["Rests on"])
    assert "hidden confounding of X1 <-> Y up to 1.5" in str(basis["Rests on"])
    assert basis["Heed"] == "note: one. 1 more under “What to heed”."
    assert str(basis["Asked"]).startswith("P(Y | do(X1, X2), U1), 4 arms in 2 contexts, on")


def test_an_exact_law_and_the_printed_method_are_called_so() -> None:
    world = paper_environment()
    asked = world.graph, world.query, world.exact_log()
    law = answer(derive_bounds(*asked, confidence=None))
    printed = answer(derive_bounds(*asked, confidence=None, profile="paper"))

    assert "No sampling error: the bounds are those of an exact law." in str(law.said[0])
    assert "rows" not in str(law.basis["Rests on"])
    assert "the printed method, which can miss the truth" in str(printed.basis["Rests on"])
    assert "can miss the truth" in str(printed.basis["Heed"])


def test_without_a_choice_it_says_what_is_ruled_out() -> None:
    table = make_table({"x": BEST})

    assert answer(table, chosen=False).verdict == (
        "No arm is ruled out, of 3 pairs of arm and context."
    )
    assert "1 are out" in str(answer(table, chosen=False, dominated=1).verdict)


def test_of_many_answers_some_known_and_some_open_are_told_at_once() -> None:
    table = large_table()
    found = answer(table)

    assert len(found.groups) == MOST_GROUPS
    assert found.more
    where = [name for group in found.groups + found.more for name in group.where]
    assert len(where) == len(set(where)) == len(table.contexts)
    standings = {group.standing for group in found.groups + found.more}
    assert {group.standing for group in found.groups} == standings


def test_other_rules_say_what_speaks_for_their_arm() -> None:
    table = make_table({"x": OPEN})
    query = EffectQuery((table.outcome,), table.treatments, table.context)
    sure = table.choose("maximin")
    found = make_bound_answer(table, query, sure, dominated=0, drawn=False)

    assert found.verdict == "Which mean is highest stays open; B has the highest lower end."
    assert found.groups[0].use == "B has the highest lower end"

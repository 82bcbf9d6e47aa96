"""What tables and effects print: rows, conclusions, confidence, caveats."""

from dataclasses import replace
from itertools import product

import pytest

import boundit as bd
from boundit.core.message import Caveat
from boundit.results.bound import Bound, Key
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import NEVER_LOGGED
from boundit.results.text import write_bounds, write_effects
from boundit.simulation.pharmacy import COLUMNS, GRAPH, QUERY, draw_kept_rows


@pytest.fixture(scope="module")
def pharmacy() -> BoundTable:
    """The table of ``boundit init pharmacy``."""
    rows = list(draw_kept_rows())
    log = {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}
    return bd.derive_bounds(GRAPH, QUERY, log)


def make(rows: str, *, goal: str = "max", **parts: object) -> BoundTable:
    """A table of lines ``arm context lower upper``."""
    found = [line.split() for line in rows.splitlines()]
    table = BoundTable.from_rows(
        [
            {"Ad": ad, **({"Age": age[0]} if age else {}), "lower": float(a), "upper": float(b)}
            for ad, *age, a, b in found
        ],
        outcome="Click",
        treatments=["Ad"],
        context=["Age"] if len(found[0]) == 4 else [],
        outcome_range=(0, 1),
        goal=goal,  # type: ignore[arg-type]
    )
    return replace(table, **parts)  # type: ignore[arg-type]


TWO = "a old 0.1 0.2\na new 0.1 0.5\nb old 0.3 0.5\nb new 0.2 0.4"


def test_the_pharmacy_prints_rows_conclusions_widths_confidence_and_caveats(
    pharmacy: BoundTable,
) -> None:
    assert repr(pharmacy) == (
        "<BoundTable E[Refill | do(Reminder), Age]: 3 arms, 2 contexts, 95% confidence, "
        "1 assumption>"
    )
    assert (
        str(pharmacy)
        == """\
Bounds on E[Refill | do(Reminder), Age]

Reminder  Age      lower  upper  unadjusted  rows
call      older    0.411  0.720  0.462       3,575
call      younger  0.429  0.656  0.497       2,163
letter    older    0.117  0.415  0.215       1,618
letter    younger  0.134  0.389  0.280       1,564
text      older    0.167  0.469  0.290       1,867
text      younger  0.322  0.643  0.534       1,806

older: call is best. younger: call or text is best; letter is ruled out.
Mean width 0.284: 0.180 would remain with infinite data, 0.105 is sampling error.
95% confidence that all 6 intervals contain the true means, if the graph is right (exact \
inference, 12,593 rows).
assumes: Answered has no values besides 0, 1, and Illness none besides mild, serious; selection \
could hide others (domain=)"""
    )


def test_effects_of_the_pharmacy_print_signs_directions_and_a_sentence(
    pharmacy: BoundTable,
) -> None:
    assert repr(pharmacy.effect("call", "letter")) == (
        "<Effect of Reminder=call vs letter on Refill: older [+0.138, +0.451], "
        "younger [+0.130, +0.378]; 95% confidence>"
    )
    effects = list(pharmacy.effects("letter").values())
    assert (
        write_effects(effects, caveats=False)
        == """\
Effect of Reminder on mean Refill, compared with letter

Reminder  Age      lower   upper   unadjusted  direction
call      older    +0.138  +0.451  +0.247      increase
call      younger  +0.130  +0.378  +0.217      increase
text      older    -0.062  +0.195  +0.075      inconclusive
text      younger  +0.089  +0.353  +0.254      increase

Compared with letter, call increases mean Refill by 0.130 to 0.451, for any mix of Age.
95% confidence that all 4 intervals contain the true effects, if the graph is right (exact \
inference, 12,593 rows)."""
    )


def test_an_effect_without_sampling_error_lies_within_the_one_with_it(
    pharmacy: BoundTable,
) -> None:
    """On younger patients a call adds .261 to .287 within illness, whatever its share is."""
    (_, row) = pharmacy.effect("call", "letter").rows()

    assert row["lower_estimate"] == pytest.approx(0.26138, abs=1e-4)
    assert row["upper_estimate"] == pytest.approx(0.28691, abs=1e-4)
    for effect, where in product(pharmacy.effects("letter").values(), pharmacy.contexts):
        inner, outer = effect.estimate(where), effect.intervals[where]
        assert outer.lower <= inner.lower <= inner.upper <= outer.upper


def test_an_explanation_names_rule_data_derivation_and_width(pharmacy: BoundTable) -> None:
    lines = str(pharmacy.explain("call", "younger")).splitlines()

    assert lines[0] == "E[Refill | do(Reminder=call), Age=younger] lies in [0.429, 0.656]"
    assert lines[1] == "  rule        worst case over Illness (both bounds)"
    assert (
        "  data        mean Refill with Illness=mild 0.594 (552 rows), with Illness=serious "
        "0.464 (1,611 rows)"
    ) in lines
    assert (
        lines[-1]
        == "  width       0.226: identified set [0.464, 0.594] 0.131, sampling error 0.095"
    )


def test_several_treatments_are_named_in_columns_and_sentences() -> None:
    rows = [
        {"X": x, "Z": z, "lower": 0.1 + 0.4 * x, "upper": 0.3 + 0.4 * x}
        for x, z in product((0, 1), repeat=2)
    ]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X", "Z"], outcome_range=(0, 1))

    assert (
        str(table)
        == """\
Bounds on E[Y | do(X, Z)]

X  Z  lower  upper
0  0  0.100  0.300
0  1  0.100  0.300
1  0  0.500  0.700
1  1  0.500  0.700

X=1, Z=0 or X=1, Z=1 is best; X=0, Z=0 and X=0, Z=1 are ruled out.
Mean width 0.200.
The intervals are taken as given."""
    )
    assert table.effect((1, 1)).summary() == (
        "Compared with X=0, Z=0, X=1, Z=1 increases mean Y by 0.200 to 0.600."
    )


def test_goal_min_turns_words_and_no_number() -> None:
    table = make(TWO, goal="min")

    assert "Lower is better. old: a is best. new: no arm is ruled out." in str(table)
    assert str(table).splitlines()[3] == str(make(TWO)).splitlines()[3]
    assert table.effect("b", "a").summary() == (
        "Compared with a, b changes mean Click by -0.300 to +0.400, for any mix of Age: "
        "inconclusive."
    )
    assert table.effect("b", "a", shares={"old": 1}).summary() == (
        "Compared with a, b increases mean Click by 0.100 to 0.400, for the stated shares."
    )
    assert (
        table.effect("a", "b", shares={"old": 1})
        .summary()
        .startswith("Compared with b, a decreases mean Click by 0.100 to 0.400")
    )


def test_numbers_are_to_a_thousandth_of_the_range_without_exponents() -> None:
    bounds: dict[Key, Bound] = {
        ((dose,), ()): Bound(1e-9 + dose, 123456.78, 1.0, 5e4, 1200, "r", "r", unadjusted=7e4)
        for dose in (0, 10, 2)
    }
    table = BoundTable(
        "Cost", ("Dose",), (), {"Dose": (0, 2, 10)}, (0, 250_000), bounds, confidence=0.9
    )
    text = str(table)

    assert text.splitlines()[2:6] == [
        "Dose  lower  upper    unadjusted  rows",
        "0     0      123,457  70,000      1,200",
        "2     2      123,457  70,000      1,200",
        "10    10     123,457  70,000      1,200",
    ]
    assert "90% confidence that all 3 intervals contain the true means" in text
    assert "e-" not in text
    assert "Dose=2 changes mean Cost by -123,455 to +123,457" in str(table.effect(2, 0))


def test_an_exact_distribution_has_shares_and_no_sampling_error() -> None:
    log = bd.read_log(
        {"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1], "p": [0.25, 0.25, 0.125, 0.375]},
        weight="p",
        exact=True,
    )
    text = str(bd.derive_bounds("X -> Y", "Y | do(X)", log, confidence=None))

    assert text.splitlines()[2:5] == [
        "X  lower  upper  unadjusted  share",
        "0  0.500  0.500  0.500       0.500",
        "1  0.750  0.750  0.750       0.500",
    ]
    assert text.endswith("The data are an exact distribution without sampling error.")


@pytest.mark.parametrize(
    ("complete", "title"), [(True, "no information"), (False, "no bound found")]
)
def test_whole_ranges_say_so_and_that_they_stay_only_where_it_is_proved(
    complete: bool, title: str
) -> None:
    table = make("a old 0 1\na new 0 1\nb old 0 1\nb new 0 1", complete=complete)
    notes = (Caveat("3 rules, because a limit was met.", kind="skipped"),)
    table = replace(table, caveats=notes)

    assert str(table).startswith(f"Bounds on E[Click | do(Ad), Age]: {title}\n\n")
    effects = write_effects(list(table.effects("a").values()))
    assert effects.startswith(f"Effect of Ad on mean Click, compared with a: {title}\n\n")
    for text in (str(table), effects):
        assert ("(proved)" in text) is complete
        assert "Why: Skipped: 3 rules, because a limit was met." in text
    if complete:
        assert "Every mean from 0 to 1 is consistent" in str(table)
        assert (
            "Every effect from -1 to +1 is consistent with the data and the graph, in all 2 rows."
            in effects
        )


def test_where_the_outcome_is_selected_and_confounded_the_reasons_are_told() -> None:
    log = {"X": [0, 1] * 50, "Y": [0, 1, 1, 0] * 25}
    table = bd.derive_bounds("X -> Y; X <-> Y; Y -> [S]", "Y | do(X)", log)
    text = str(table)

    assert "no information" in text
    assert "Y affects which rows were logged (Y -> [S])" in text
    assert "X and Y have an unmeasured common cause (X <-> Y)" in text


def test_empty_cells_and_too_few_rows_are_said_where_nothing_is_known() -> None:
    table = make("a old 0 1\nb old 0 1", complete=True)
    row = next(iter(table.bounds.values()))
    few = replace(row, lower_estimate=0.2, upper_estimate=0.4)
    empty = replace(row, marks=(NEVER_LOGGED,))
    for changed, said in (
        (few, "Why: There are too few rows: without sampling error some bounds are narrower."),
        (empty, "Why: 2 of 2 rows depend on combinations of values that were never logged."),
    ):
        text = str(replace(table, bounds=dict.fromkeys(table.bounds, changed)))
        assert said in text
        assert "(proved)" not in text


def test_critical_caveats_come_first_and_others_last() -> None:
    notes = (Caveat("mind", kind="note"), Caveat("danger", kind="critical"))
    lines = str(make(TWO, caveats=notes)).splitlines()

    assert (lines[2], lines[-1]) == ("critical: danger", "note: mind")
    assert "danger" not in write_bounds(make(TWO, caveats=notes), caveats=False)


def test_more_than_thirty_rows_are_cut_unless_all_are_asked_for() -> None:
    table = make("\n".join(f"a{i} 0.1 0.2" for i in range(40)))

    assert "and 10 more rows (--all-rows, or .frame(), has all)" in str(table)
    assert str(table).count("\na") == 31
    assert write_bounds(table, all_rows=True).count("\na") == 40
    assert "No arm is ruled out." in str(table)


def test_many_contexts_are_grouped_by_what_is_best() -> None:
    rows = [f"a c{i} 0.1 0.2\nb c{i} 0.{3 if i % 2 else 0} 0.5" for i in range(12)]

    assert (
        "c0, c2, c4, c6 and 2 more: no arm is ruled out. c1, c3, c5, c7 and 2 more: b is best."
    ) in str(make("\n".join(rows)))

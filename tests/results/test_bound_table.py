import json
import random
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.core.errors import (
    DamagedFile,
    MalformedRow,
    NotAKey,
    OutsideDomain,
    ReservedName,
    WrongLength,
)
from boundit.core.formula import StepRecord
from boundit.core.interval import Interval
from boundit.core.message import Caveat
from boundit.report.bounds import write_bounds_page
from boundit.results import bound_file
from boundit.results.bound import MEASURES, Arm, Bound, Context, Key, RuleRecord
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import RANGE
from boundit.results.fused_plan import Factor, FusedPlan, NoFusedPlan

ROWS: list[dict[str, object]] = [
    {"Ad": "A", "Age": 0, "lower": 0.1, "upper": 0.3},
    {"Ad": "B", "Age": 0, "lower": 0.2, "upper": 0.6},
    {"Ad": "A", "Age": 1, "lower": 0, "upper": 1},
]


def expert(rows: list[dict[str, object]] = ROWS) -> BoundTable:
    return BoundTable.from_rows(
        rows, outcome="Click", treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
    )


def _fused(key: Key) -> FusedPlan:
    factor = Factor(("W",), (("a",), ("b",)), ((0,),), ((0, 0),), ((3, 4),), "a tilt")
    return FusedPlan((key,), (factor,), ((0, 1),), (3, 4), (1.5, 4.0), ("why",))


def derived() -> BoundTable:
    """A table with every kind of level and every field filled."""
    moment, day = datetime(2024, 1, 1, 8, tzinfo=UTC), date(2024, 2, 29)
    arms = ((moment, True), (moment, False))
    bounds: dict[Key, Bound] = {
        (arm, (day, "x")): Bound(0.1, 0.5, 0.2, 0.4, 7, "r", RANGE, ("a: 1",), (), ("odd",))
        for arm in arms
    }
    return BoundTable(
        outcome="Y",
        treatments=("T", "F"),
        context=("D", "W"),
        levels={"T": (moment,), "F": (False, True), "D": (day,), "W": ("x", None)},
        outcome_range=(0.0, 1.0),
        bounds=bounds,
        rules={
            "r": RuleRecord(
                "r",
                "it is",
                (StepRecord("because", (("Y",), ("X", "S")), ("Z",), into=("X",)),),
            )
        },
        profile="sound",
        confidence=0.95,
        caveats=(Caveat("mind the gap"),),
        contrasts={((day, "x"), arms[0], arms[1]): -0.25},
        pooling=_fused((arms[0], (day, "x"))),
    )


def test_an_expert_writes_rows_and_looks_them_up() -> None:
    table = expert()

    assert table.arms == (("A",), ("B",))
    assert table.contexts == ((0,), (1,))
    assert table[("B",), (0,)] == table["B", 0] == table[["B"], [0]] == Interval(0.2, 0.6)
    assert table.bounds[("B",), (0,)].lower_rule == "given"
    assert "without a log" in str(table.pooling)


def test_in_the_domain_without_a_row_is_the_whole_range() -> None:
    assert expert()["B", 1] == Interval(0, 1)
    assert "it has no row" in str(expert().explain("B", 1))


def test_rows_have_the_settled_columns_and_can_be_read_back() -> None:
    table = expert()
    rows = table.rows()

    assert list(rows[0]) == ["Ad", "Age", *MEASURES]
    assert expert(rows) == table
    frame = table.frame()
    assert list(frame.columns) == ["Ad", "Age", *MEASURES]
    assert expert(frame.to_dict("records")) == table


def test_without_context_the_key_is_an_empty_tuple() -> None:
    table = BoundTable.from_rows(
        [{"Ad": "A", "lower": 0.1, "upper": 0.3}],
        outcome="Click",
        treatments="Ad",
        outcome_range=(0, 1),
    )

    assert table.treatments == ("Ad",)
    assert table["A", ()] == table[("A",), ()] == Interval(0.1, 0.3)
    assert table["A"] == table["A", ()]
    assert str(table.explain("A")).startswith("E[Click | do(Ad=A)] lies in [0.100, 0.300]\n")


def test_levels_of_numpy_become_pythons(tmp_path: Path) -> None:
    table = expert([{"Ad": np.str_("A"), "Age": np.int64(3), "lower": 0.0, "upper": 1.0}])
    table.save(tmp_path / "b.json")

    assert BoundTable.load(tmp_path / "b.json") == table
    assert type(table.levels["Age"][0]) is int


@pytest.mark.parametrize("key", ["A", ("A",), ("A", 0, 1), 5])
def test_a_key_is_an_arm_and_a_context(key: object) -> None:
    with pytest.raises(NotAKey):
        _ = expert()[key]


@pytest.mark.parametrize("key", [(("A", "B"), 0), ("A", ()), ((), 0)])
def test_an_arm_or_context_of_another_length_is_refused(key: tuple[object, object]) -> None:
    with pytest.raises(WrongLength):
        _ = expert()[key]


def test_a_value_outside_the_domain_is_refused_with_a_hint() -> None:
    with pytest.raises(OutsideDomain, match="did you mean 0 "):
        _ = expert()["A", "0"]
    with pytest.raises(OutsideDomain, match="it has 'A', 'B'"):
        _ = expert()["C", 0]
    with pytest.raises(OutsideDomain):
        _ = expert()["A", [[0]]]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"Age": 0, "lower": 0, "upper": 1}, "it has no value for 'Ad'"),
        ({"Ad": "A", "Age": 0, "lower": 0}, "'upper' must be a number, found None"),
        ({"Ad": "A", "Age": 0, "lower": "0", "upper": 1}, "'lower' must be a number"),
        ({"Ad": "A", "Age": 0, "lower": float("nan"), "upper": 1}, "'lower' must be a number"),
        (
            {"Ad": "A", "Age": 0, "lower": 0.5, "upper": 0.4},
            "is not an interval within the range",
        ),
        ({"Ad": "A", "Age": 0, "lower": 0, "upper": 2}, "is not an interval within the range"),
        ({"Ad": [1], "Age": 0, "lower": 0, "upper": 1}, "which is not a value"),
    ],
)
def test_a_row_that_is_no_bound_is_refused_with_its_number(
    row: dict[str, object], reason: str
) -> None:
    with pytest.raises(MalformedRow, match=reason) as caught:
        expert([ROWS[2], row])
    assert caught.value.row == 1


def test_two_rows_for_one_pair_are_refused() -> None:
    with pytest.raises(MalformedRow, match="has a row already"):
        expert([ROWS[0], ROWS[0]])


def test_a_variable_called_like_a_column_is_refused() -> None:
    with pytest.raises(ReservedName, match="cannot be called 'n'"):
        BoundTable.from_rows(
            [{"n": 1, "lower": 0, "upper": 1}],
            outcome="Y",
            treatments=["n"],
            outcome_range=(0, 1),
        )


def test_save_and_load_keep_everything(tmp_path: Path) -> None:
    for table in (derived(), expert()):
        table.save(tmp_path / "b.json")
        found = BoundTable.load(tmp_path / "b.json")

        assert found == table
        assert found.rows() == table.rows()
        key = next(iter(table.bounds))
        assert found.explain(*key) == table.explain(*key)


def test_a_file_that_names_no_inference_is_of_the_only_one_there_was(tmp_path: Path) -> None:
    table = derived()
    assert table.confidence is not None
    record = table.record()
    del record["inference"]
    rows = cast("list[list[dict[str, object]]]", record["bounds"])
    for row in rows:
        del row[2]["sampling"]
    bound_file.write(tmp_path / "old.json", record)

    assert BoundTable.load(tmp_path / "old.json").inference == "exact"


def test_plug_in_ends_have_no_inference() -> None:
    table = expert()

    assert table.inference is None
    assert replace(derived(), confidence=None, inference="exact").inference is None


def test_edges_of_bins_are_kept_and_files_without_them_still_load(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    plain = expert()
    table = replace(plain, bins={plain.treatments[0]: (18.0, 30.5)})
    table.save(path)
    assert BoundTable.load(path).bins == {plain.treatments[0]: (18.0, 30.5)}
    older = bound_file.read(path)
    del older["bins"]
    bound_file.write(path, older)
    assert BoundTable.load(path) == plain


@pytest.mark.parametrize(
    "change",
    [
        {"bins": {"T": ["eighteen"]}},
        {"levels": {"T": [{"year": 2024}]}},
        {"levels": {"T": [[1]]}},
        {"levels": 5},
        {"bounds": [[[1], [2], {"lower": 1}]]},
        {"bounds": [5]},
        {"outcome_range": [0]},
        {"rules": [{"name": "r"}]},
        {"treatments": ["lower"]},
        {"contrasts": [[[], [], "much"]]},
        {"fused": {"reason": 5}},
        {"fused": {"pairs": [], "factors": [], "cells": [], "n": [1], "sums": [0.5]}},
    ],
)
def test_a_record_that_is_no_table_is_refused_whole(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """Even one with the right checksum, written by somebody else."""
    derived().save(tmp_path / "b.json")
    record = bound_file.read(tmp_path / "b.json")
    bound_file.write(tmp_path / "b.json", record | change)

    with pytest.raises(DamagedFile) as caught:
        BoundTable.load(tmp_path / "b.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["outcome", "bounds", "levels", "outcome_range"])
def test_a_record_without_a_part_is_refused(tmp_path: Path, key: str) -> None:
    derived().save(tmp_path / "b.json")
    record = bound_file.read(tmp_path / "b.json")
    del record[key]
    bound_file.write(tmp_path / "b.json", record)

    with pytest.raises(DamagedFile):
        BoundTable.load(tmp_path / "b.json")


def test_a_changed_digit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    expert().save(path)
    path.write_text(path.read_text().replace("0.3", "0.4"))

    with pytest.raises(DamagedFile, match="changed after it was saved"):
        BoundTable.load(path)


def test_the_file_is_plain_json_with_a_version(tmp_path: Path) -> None:
    expert().save(tmp_path / "b.json")
    record = json.loads((tmp_path / "b.json").read_text())

    assert (record["format"], record["version"]) == ("boundit bounds", 4)


def test_plain_intervals_have_nothing_but_their_ends() -> None:
    table = derived()

    assert table.intervals_only().contrasts == {}
    assert isinstance(table.intervals_only().pooling, NoFusedPlan)
    assert table.intervals_only().bounds == table.bounds
    assert table.intervals_only().intervals_only() == table.intervals_only() != table


def test_a_contrast_can_rule_out_an_arm_that_its_interval_does_not() -> None:
    """Section 3.8: one shared unknown moves both arms."""
    table = expert()
    joint = replace(table, contrasts={((0,), ("A",), ("B",)): -0.01})

    assert table.effect("A", "B")[0].upper == pytest.approx(0.1)
    assert joint.effect("A", "B")[0].upper == -0.01
    assert joint.effect("A", "B")[0].lower == pytest.approx(-0.5)
    assert (table.ruled_out(0), joint.ruled_out(0)) == ({}, {("A",): ("B",)})
    assert joint.ruled_out(1) == {}
    found = joint.explain("A", 0)
    assert found.ruled_out == "by B, whose mean is at least 0.010 higher"
    assert found.record()["ruled out"] == [found.ruled_out]
    assert joint.explain("B", 0) == table.explain("B", 0)
    with pytest.raises(OutsideDomain):
        joint.effect("A", "C")


@pytest.mark.parametrize("seed", range(20))
def test_dominated_arms_are_those_that_comparing_all_pairs_finds(seed: int) -> None:
    rng = random.Random(seed)
    arms: list[Arm] = [(i,) for i in range(4)]
    contexts: list[Context] = [(c,) for c in range(3)]
    bounds: dict[Key, Bound] = {}
    for key in product(arms, contexts):
        low, high = sorted(rng.choices([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], k=2))
        if rng.random() < 0.9:
            bounds[key] = Bound(low, high, low, high, 1, "given", "given")
    contrasts = {
        (context, one, other): rng.uniform(-0.3, 0.3)
        for context, one, other in product(contexts, arms, arms)
        if one != other and rng.random() < 0.2
    }
    levels = {"X": tuple(range(4)), "C": tuple(range(3))}
    table = BoundTable("Y", ("X",), ("C",), levels, (0, 1), bounds, contrasts=contrasts)
    for context in contexts:
        leads = {
            one: {
                two: table.find_largest_difference(one, two, context)
                for two in table.arms
                if two != one
            }
            for one in table.arms
        }
        beaten = {
            one: min(to, key=to.__getitem__)
            for one, to in leads.items()
            if min(to.values()) < 0
        }
        assert table.ruled_out(context) == beaten
        for arm in table.arms:
            found = table.find_dominations(context).get(arm)
            assert (found and found.arm) == beaten.get(arm)
            assert found is None or found.lead == -leads[arm][found.arm]


def test_a_value_without_a_hash_is_no_level() -> None:
    with pytest.raises(OutsideDomain, match="no level"):
        expert()["A", ([0],)]


def test_arms_and_contexts_are_found_once() -> None:
    table = expert()

    assert table.arms is table.arms
    assert table.contexts is table.contexts
    assert replace(table, bounds={}).arms == ()
    assert replace(table, bounds={}).ruled_out(0) == {}


def test_the_repr_of_a_large_table_is_one_short_line() -> None:
    rows = [{"X": x, "C": c, "lower": 0, "upper": 1} for x in range(50) for c in range(40)]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments="X", context="C", outcome_range=(0, 1)
    )

    assert repr(table) == "<BoundTable E[Y | do(X), C]: 50 arms, 40 contexts, estimates>"
    assert repr(derived()).endswith("2 arms, 1 context, 95% confidence>")


def test_a_table_can_be_saved_without_counts(tmp_path: Path) -> None:
    """Intervals and reasons stay; no count of a row is in the file."""
    log = {"Age": [0, 1] * 40, "Ad": [0, 0, 1, 1] * 20, "Click": [0, 1, 1, 1, 0] * 16}
    table = derive_bounds("Age -> Ad -> Click; Age -> Click", "Click | do(Ad)", log)
    table.save(tmp_path / "private.json", counts=False)
    loaded = BoundTable.load(tmp_path / "private.json")

    assert {k: b.interval for k, b in loaded.bounds.items()} == {
        k: b.interval for k, b in table.bounds.items()
    }
    assert " rows)" in str(table.record())
    assert "rows" not in "".join(str(b.lower_cells) for b in loaded.bounds.values())
    assert {b.n for b in loaded.bounds.values()} == {0}
    assert isinstance(loaded.pooling, NoFusedPlan)
    assert "to keep them private" in str(loaded)


def _draw_private(kind: str) -> tuple[dict[str, list[object]], dict[str, Any]]:
    """Rows whose caveats tell how many there are, and the options to derive bounds with."""
    rng = np.random.default_rng(0)
    age, ad = rng.integers(0, 2, 1_237), rng.integers(0, 2, 1_237)
    click = (rng.random(1_237) < 0.3 + 0.2 * ad).astype(int)
    rows: dict[str, list[object]] = {
        "Age": age.tolist(),
        "Ad": ad.tolist(),
        "Click": click.tolist(),
    }
    match kind:
        case "missing":
            rows["Age"][:113] = [None] * 113
            return rows, {}
        case "clusters":
            rows = {name: [v for v in of for _ in range(2)] for name, of in rows.items()}
            return rows | {"User": [i // 2 for i in range(2_474)]}, {"cluster": "User"}
        case "repeats":
            return {name: of * 7 for name, of in rows.items()}, {}
        case _:
            return rows, {"models": "linear", "inference": "approximate"}


@pytest.mark.parametrize("kind", ["missing", "clusters", "repeats", "models"])
@pytest.mark.parametrize("reloaded", [False, True])
def test_no_caveat_of_a_table_without_counts_tells_of_any(
    kind: str, reloaded: bool, tmp_path: Path
) -> None:
    """Neither in the file nor in words, whether it was dropped at once or from a file."""
    rows, options = _draw_private(kind)
    graph = "Age -> Ad -> Click; Age -> Click"
    table = derive_bounds(graph, "Click | do(Ad)", rows, **options)
    counts = re.compile(r"\b(1,?237|1,?124|113|2,?474|8,?659|multiple of 7)\b")
    assert counts.search(str((table.caveats, table.models)))
    if reloaded:
        table.save(tmp_path / "whole.json")
        table = BoundTable.load(tmp_path / "whole.json")
    private = table.drop_counts()
    table.save(tmp_path / "private.json", counts=False)

    for said in (
        (tmp_path / "private.json").read_text(),
        str(private),
        str(private.explain(0)),
        private.summary(),
        re.sub(r"<svg.*?</svg>", "", private._repr_html_()),
        re.sub(r"<svg.*?</svg>", "", write_bounds_page(private)),
        " ".join(private.caveats),
    ):
        assert counts.search(said) is None
    assert len(private.caveats) == len(table.caveats) + 1

import json
from dataclasses import replace

import pytest

from boundit.core.codec import decode, encode
from boundit.results.bound_table import BoundTable
from boundit.results.fused_plan import Factor, FusedPlan, NoFusedPlan

PAIRS = ((("A",), (1,)), (("B",), (1,)))
FIRST = Factor(
    ("V",), ((0,), (1,)), ((0,), (0,)), ((0, 0),), ((7, 2),), "rows count up to a tilt"
)
SECOND = Factor(
    ("U", "W"),
    ((0, "x"), (0, "y"), (1, "x")),
    ((0, 1), (0, 2)),
    ((1, 2, 3), (4, 5, 6), (0, 0, 0)),
    None,
    "rows are draws",
)


def plan() -> FusedPlan:
    return FusedPlan(
        PAIRS,
        (FIRST, SECOND),
        ((0, 1, 2, 3, 4, 5), (0, 1, 2, 6, 6, 6)),
        (1, 2, 3, 4, 5, 6, 7),
        (0.5, 1.0, 0.0, 4.0, 2.5, 0.0, 7.0),
        ("Rule 1 drops S",),
    )


def test_json_keeps_it_exactly() -> None:
    assert decode(FusedPlan, json.loads(json.dumps(encode(plan())))) == plan()


@pytest.mark.parametrize("found", [plan(), NoFusedPlan("the graph allows none")])
def test_a_record_tells_a_plan_from_none(found: FusedPlan | NoFusedPlan) -> None:
    table = BoundTable("Y", ("X",), (), {}, (0.0, 1.0), {}, pooling=found)

    assert BoundTable.from_record(json.loads(json.dumps(table.record()))) == table


def test_it_names_what_helps_and_how_many_leaves_there_are() -> None:
    assert plan().variables == ("V", "U", "W")
    assert plan().n_leaves == 6


def test_a_plan_without_factors_has_one_leaf() -> None:
    found = FusedPlan(PAIRS, (), ((0,), (1,)), (3, 0), (1.5, 0.0))

    assert (found.variables, found.n_leaves) == ((), 1)


def test_text_says_what_is_counted_and_why() -> None:
    assert str(plan()).splitlines() == [
        "28 rows in 7 cells for 2 pairs",
        "V: 2 cells in 1 pool; rows count up to a tilt",
        "U, W: 3 cells in 3 pools; rows are draws",
        "Rule 1 drops S",
    ]
    assert repr(NoFusedPlan("the graph allows none")) == "no plan: the graph allows none"


@pytest.mark.parametrize(
    "change",
    [
        {"cells": ((0, 1, 2, 3, 4, 5), (0, 1, 2, 6, 6))},
        {"cells": ((0, 1, 2, 3, 4, 5), (0, 1, 2, 6, 6, 9))},
        {"cells": ((0, 1, 2, 3, 4, 5),)},
        {"n": (1, 2)},
        {"sums": (0.5, 1.0, 0.0, 4.5, 2.5, 0.0, 7.0)},
        {"factors": (FIRST,)},
        {"factors": (SECOND, FIRST)},
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"pairs|cells|rewards"):
        replace(plan(), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [{"counts": ((0,),)}, {"shares": ((7, 2), (1, 1))}, {"pools": ((0,), (1,))}],
)
def test_pools_that_do_not_fit_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"pools?"):
        replace(FIRST, **change)  # type: ignore[arg-type]

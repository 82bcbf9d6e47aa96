"""Old names are refused, and what is given instead is there."""

from pkgutil import resolve_name
from typing import Any

import pytest

import boundit as bd
from boundit.core.public_names import ATTRIBUTES, NAMES, OPTIONS, RenamedOption

ROWS = {"X": [0, 1], "Y": [0, 1]}


@pytest.mark.parametrize("old", NAMES)
def test_an_old_name_gives_one_that_is_there(old: str) -> None:
    assert old not in bd.__all__
    new = NAMES[old].removesuffix(".evaluate").removesuffix("(...)")
    assert resolve_name(f"boundit.{new}") is not None


@pytest.mark.parametrize("old", ATTRIBUTES)
def test_an_old_attribute_of_a_table_gives_one_that_is_there(old: str) -> None:
    table = bd.derive_bounds("X -> Y", "Y | do(X)", ROWS)

    assert hasattr(table, ATTRIBUTES[old])
    with pytest.raises(
        AttributeError, match=f"no attribute {old!r}; it is now {ATTRIBUTES[old]}"
    ):
        getattr(table, old)
    with pytest.raises(AttributeError, match=r"no attribute 'ghost'$"):
        table.ghost  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("old", OPTIONS)
def test_an_old_option_gives_the_new_one(old: str) -> None:
    given: dict[str, Any] = {old: None}
    asked: Any = ("X -> Y", "Y | do(X)", ROWS)

    with pytest.raises(
        RenamedOption, match=f"derive_bounds has no option {old!r}; write "
    ) as one:
        bd.derive_bounds(*asked, **given)
    assert one.value.option == OPTIONS[old]
    for function in (bd.suggest, bd.stress, bd.sensitivity):
        with pytest.raises(TypeError, match=f"{function.__name__} has no option {old!r}"):
            function(*asked, **given)
    with pytest.raises(bd.BounditError, match=f"read_log has no option {old!r}"):
        bd.read_log(ROWS, **given)


def test_old_attributes_of_results_give_the_new_ones() -> None:
    rows = [{"Ad": ad, "lower": 0.1, "upper": 0.3} for ad in "AB"]
    table = bd.BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], outcome_range=(0, 1))
    choice: Any = table.choose()[()]
    comparison: Any = bd.compare(table, "A", "B")
    for owner, old, new in (
        (choice, "lottery", "probabilities"),
        (choice, "regret", "max_regret"),
        (choice, "says", "summary"),
        (comparison, "by", "lower"),
        (bd.Client, "show", "policy"),
        (bd.Client, "table", "propensities"),
        (bd.Client, "reward", "learn"),
        (bd.Decision, "index", "scores"),
        (bd.Fused, "observes", "auxiliary_variables"),
    ):
        assert hasattr(owner, new) or new in getattr(owner, "__annotations__", {})
        with pytest.raises(AttributeError, match=f"has no {old!r}; it is now {new}"):
            getattr(owner, old)
    with pytest.raises(RenamedOption, match="compare has no option 'new'; write policy"):
        bd.compare(table, new="A", old="B")  # type: ignore[call-arg]
    with pytest.raises(RenamedOption, match="choose has no option 'lottery'; write randomize"):
        table.choose(lottery=True)  # type: ignore[call-arg]

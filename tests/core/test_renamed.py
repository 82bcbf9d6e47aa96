"""Old names are refused, and what is given instead is there."""

from functools import reduce
from typing import Any

import pytest

import boundit as bd
from boundit.core.public_names import ATTRIBUTES, NAMES, OPTIONS, RenamedOption

ROWS = {"X": [0, 1], "Y": [0, 1]}


@pytest.mark.parametrize("old", NAMES)
def test_an_old_name_gives_one_that_is_there(old: str) -> None:
    assert old not in bd.__all__
    new = NAMES[old].removesuffix(".evaluate").removesuffix("(...)")
    assert reduce(getattr, new.split("."), bd) is not None


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
        RenamedOption, match=f"derive_bounds has no option {old!r}. Write "
    ) as one:
        bd.derive_bounds(*asked, **given)
    assert one.value.option == OPTIONS[old]
    for function in (bd.suggest, bd.stress, bd.sensitivity):
        with pytest.raises(TypeError, match=f"{function.__name__} has no option {old!r}"):
            function(*asked, **given)
    with pytest.raises(bd.BounditError, match=f"read_log has no option {old!r}"):
        bd.read_log(ROWS, **given)


def test_options_of_decisions_have_new_names() -> None:
    asked: Any = ("X -> Y", "Y | do(X)", ROWS)

    with pytest.raises(RenamedOption, match=r"stress has no option 'new'\. Write policy"):
        bd.stress(*asked, new=1)  # type: ignore[arg-type]
    with pytest.raises(
        RenamedOption, match=r"suggest has no option 'trial'\. Write trial_size"
    ):
        bd.suggest(*asked, trial=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="suggest has no option 'new'"):
        bd.suggest(*asked, new=1)  # type: ignore[arg-type]

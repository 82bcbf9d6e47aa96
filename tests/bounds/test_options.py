"""One list of options makes the keywords of functions, their reference and their flags."""

import inspect
from typing import Any

import pytest

import boundit as bd
from boundit.bounds.options import (
    DATA,
    OPTIONS,
    Declared,
    DeriveOptions,
    RunOptions,
    list_changed,
    list_flags,
    list_options,
    read_levels,
    read_number,
    read_rate,
    write_keywords,
)
from boundit.core.errors import BounditError

ROWS = {"X": [0, 1, 0, 1], "Y": [0, 1, 1, 1]}
DERIVED = list_options(DeriveOptions)


def test_the_signature_spells_out_every_option_in_order() -> None:
    parameters = inspect.signature(bd.derive_bounds).parameters

    assert list(parameters) == ["graph", "query", "log", *DERIVED]
    for name, of in DERIVED.items():
        assert parameters[name].default == of.default
        assert parameters[name].annotation == of.type
        assert f"\n{name} : " in (bd.derive_bounds.__doc__ or "")
        assert of.help.split()[0] in (bd.derive_bounds.__doc__ or "")


@pytest.mark.parametrize("function", [bd.fit_environments, bd.stress, bd.suggest])
def test_companions_have_the_same_options_with_the_same_defaults(function: Any) -> None:
    parameters = inspect.signature(function).parameters

    for name in DERIVED.keys() - {"max_condition", "profile"}:
        assert parameters[name].default == DERIVED[name].default
    assert "options" not in parameters


@pytest.mark.parametrize(
    ("function", "listed"), [(bd.read_log, DATA), (bd.check, list_options(RunOptions))]
)
def test_functions_below_agree_with_the_list(
    function: Any, listed: dict[str, Declared]
) -> None:
    parameters = inspect.signature(function).parameters

    assert {name: of.default for name, of in listed.items()} == {
        name: parameters[name].default for name in listed
    }


def test_unknown_keywords_are_refused_with_a_near_one() -> None:
    with pytest.raises(TypeError, match=r"no option 'conf'\. Did you mean 'confidence'\?"):
        bd.derive_bounds("X -> Y", "Y | do(X)", ROWS, conf=0.9)  # type: ignore[call-arg]
    with pytest.raises(
        BounditError, match=r"stress has no option 'zzz'\. help\(stress\) lists"
    ):
        bd.stress("X -> Y", "Y | do(X)", ROWS, zzz=0.9)  # type: ignore[call-arg]


def test_every_option_says_what_it_is() -> None:
    for name, of in OPTIONS.items():
        assert of.help.endswith("."), name
        assert len(of.help) < 100, name
        assert of.label or name == "progress", name


def test_changed_options_are_written_for_python_and_for_a_shell() -> None:
    options = {
        "columns": {"Age": "age in years"},
        "bins": {"Age": (18, 30.5)},
        "external": ["a.csv", "b.csv"],
        "domain": {"X": [True, "b", 2]},
        "selection_rate": (0.3, 0.6),
        "outcome_range": (0.0, 5),
        "confidence": None,
        "goal": "max",
        "exact": True,
        "cluster": None,
        "time_limit": 0.0,
        "adaptive": False,
    }

    assert list_changed(options) == {
        k: v for k, v in options.items() if k not in {"goal", "cluster", "adaptive"}
    }
    assert list_flags(options) == [
        *("--columns", "Age=age in years", "--bins", "Age=18,30.5"),
        *("--external", "a.csv", "--external", "b.csv", "--domain", "X=true,b,2"),
        *("--selection-rate", "0.3,0.6", "--outcome-range", "0", "5"),
        *("--confidence", "none", "--exact", "--time-limit", "0"),
    ]
    assert write_keywords({"bins": {"Age": (18, 30.5)}, "confidence": 0.95, "goal": "min"}) == (
        ", bins={'Age': [18, 30.5]}, goal='min'"
    )


def test_text_becomes_values() -> None:
    assert (read_rate("0.4"), read_rate("0.3,0.6")) == (0.4, (0.3, 0.6))
    assert read_levels("1,2.5,true,B,1e999") == [1, 2.5, True, "B", "1e999"]
    for text in ("much", "nan", ""):
        with pytest.raises(ValueError, match="is not a number"):
            read_number(text)

"""What the library says in Python, a shell says in flags."""

import inspect
import re

import click
import pytest

from boundit.bounds.confidence import NoConfidence
from boundit.bounds.derive import derive_bounds
from boundit.bounds.reward import NeedsRange, OutsideRange
from boundit.bounds.selection_facts import InvalidFact, SelectionFacts
from boundit.checks.check import check
from boundit.cli.main import app
from boundit.cli.wording import at_shell, flag
from boundit.counts.errors import Continuous, MissingColumn, NotAllSelected, TooManyCells
from boundit.counts.read import read_log
from boundit.graph.text import parse
from boundit.terms.bound import MEASURES
from boundit.terms.bound_errors import ReservedName

SAID: list[tuple[object, str]] = [
    (MissingColumn("Agee", ["Age"]), "(--columns Agee=Age renames)"),
    (MissingColumn("time of day", ["Age"]), "(--columns 'time of day=...' renames)"),
    (Continuous("Age", 71, rows=90, numeric=True), "cut it with --bins Age=... (the graph"),
    (TooManyCells(1000, [("A", 990)]), "leave them out, or cut them with --bins"),
    (NotAllSelected("S", 2, 3), "pass the rest as --external"),
    (NeedsRange("Y", 0, 12), "can be with --reward-range LOW HIGH: the log"),
    (OutsideRange("Y", 2, (0, 1.5)), "outside --reward-range 0 1.5; widen"),
    (ReservedName("n", MEASURES), "rename it with --columns"),
    (
        NoConfidence("an exact law has no sampling error; pass confidence=None"),
        "pass --plug-in",
    ),
    ("if selection hides others, declare them with domain=", "declare them with --domain"),
    ("stopped at time_limit=2.5 s; what it found", "stopped at --time-limit 2.5 s; what"),
    ("time_limit ended some programs early", "--time-limit ended some programs early"),
    ("time_limit must be seconds", "--time-limit must be seconds"),
    ("exact=True needs weight=, the column", "--exact needs --weight, the column"),
    ("drop such rows with nulls='drop' or nulls='level'", "with --nulls drop or --nulls level"),
    ("two nodes share columns={'A': 'X', 'B': 'X'}", "--columns A=X --columns B=X"),
    ("bins={'Age': [30.0, 18.5]} must", "--bins Age=30,18.5 must"),
]


@pytest.mark.parametrize(("error", "shown"), SAID)
def test_options_are_named_as_flags(error: object, shown: str) -> None:
    assert shown in at_shell(str(error))


def test_facts_that_say_nothing_are_named_as_flags() -> None:
    facts = SelectionFacts.from_options(selection_rate=0.5, sensitivity=None)

    with pytest.raises(InvalidFact) as no:
        facts.require_in(parse("X -> Y"))
    assert "so --selection-rate and --sensitivity say nothing" in at_shell(str(no.value))


@pytest.mark.parametrize(
    "text",
    [
        "E[Y | do(domain='a'), weight=1] is wide",
        "bins=1: 0.5 (12 rows)",
        "exact=1, nulls=0, level=2 and columns='x'",
        "the log has no column 'reward_range'; it has 'time_limit'",
        "the sensitivity of a test, the bins of a log, an exact law",
        "bins={not a mapping} stays",
    ],
)
def test_variables_and_words_that_look_like_options_stay(text: str) -> None:
    assert at_shell(text) == text


@pytest.mark.parametrize(
    ("function", "command", "others"),
    [
        (derive_bounds, "bound", {"graph", "query", "log"}),
        (read_log, "bound", {"source"}),
        (check, "check", {"graph", "log", "told"}),
        (read_log, "check", {"source"}),
    ],
)
def test_every_option_of_the_library_has_its_flag(
    function: object, command: str, others: set[str]
) -> None:
    options = set(inspect.signature(function).parameters) - others  # type: ignore[arg-type]
    found = {opt for param in app.commands[command].params for opt in param.opts}

    assert {flag(option) for option in options} <= found


def test_every_flag_in_a_translation_is_a_flag_of_bound() -> None:
    known = {opt for param in app.commands["bound"].params for opt in param.opts}
    said = {word for error, _ in SAID for word in re.findall(r"--[\w-]+", at_shell(str(error)))}

    assert isinstance(app, click.Group)
    assert said <= known

"""What the library says in Python, a shell says in flags: the same words around them."""

from collections.abc import Callable, Iterable

import pytest

from boundit.bandit.errors import BadOption, BadReward, NeedsArms
from boundit.bounds.derive import derive_bounds
from boundit.bounds.evidence import NeedsRange, OutsideRange
from boundit.bounds.request import UnknownProfile
from boundit.checks.check import check
from boundit.cli.outputs import write_with_flags
from boundit.core.errors import (
    BounditError,
    OutsideDomain,
    ReservedName,
)
from boundit.core.message import ANY, Message, Note, Option
from boundit.counts.errors import MissingColumn, TooManyCells
from boundit.counts.log import read_log
from boundit.counts.table import warn_of_strange_levels
from boundit.estimand.adjustment import adjusts
from boundit.graph.text import parse
from boundit.results.bound import MEASURES
from boundit.results.bound_table import BoundTable

ROWS = {"X": [0, 1, 0, 1], "Y": [0, 1, 1, 1], "n": [1, 2, 1, 0.5]}


def bounded(graph: str, **options: object) -> BoundTable:
    """Bound from a small log."""
    rows = {"X": [0, 1, 0, 1], "M": [0, 1, 1, 1], "Y": [0, 1, 0, 1]}
    return derive_bounds(parse(graph), "Y | do(X)", rows, **options)  # type: ignore[arg-type]


ERRORS: list[tuple[BounditError | Callable[[], object], str, str | None, str | None]] = [
    (
        MissingColumn("Agee", ["Age"]),
        "columns",
        "The data have no column 'Agee'. Did you mean 'Age'? Map it with columns={'Agee': 'Age'}.",
        "The data have no column 'Agee'. Did you mean 'Age'? Map it with --columns Agee=Age.",
    ),
    (
        MissingColumn("time of day", ["Age"]),
        "columns",
        "(columns: Age). Map it with columns={'time of day': ...}.",
        "(columns: Age). Map it with --columns 'time of day=...'.",
    ),
    (
        lambda: read_log({"Age": [i + 0.5 for i in range(71)]}).count("Age"),
        "bins",
        "; cut it with bins={'Age': [...]} (the graph must then hold for the bins)",
        "; cut it with --bins Age=... (the graph must then hold for the bins)",
    ),
    (
        TooManyCells("leave them out, or cut them with ", Option("bins", ANY)),
        "bins",
        "leave them out, or cut them with bins=",
        "leave them out, or cut them with --bins",
    ),
    (
        lambda: read_log(ROWS).count("X").sum_rewards("X"),
        "reward",
        "count with reward= to add",
        "count with reward= to add",
    ),
    (
        lambda: read_log({"X": [0], "n": [-1]}, weight="n").count("X"),
        "weight",
        "weight 'n' is negative (-1) in some rows; a weight counts rows",
        None,
    ),
    (
        lambda: read_log(ROWS, weight="n").count("X"),
        "weight",
        "for the probabilities of an exact distribution add exact=True",
        "for the probabilities of an exact distribution add --exact",
    ),
    (
        lambda: read_log({"X": [0, None]}, missing="error").count("X"),
        "missing",
        "; drop such rows with missing='drop' or missing='level'",
        "; drop such rows with --missing drop or --missing level",
    ),
    (
        lambda: read_log({"X": [0, 1], "Y": [0, None]}, missing="level").count("X", reward="Y"),
        "missing",
        "; drop such rows with missing='drop'; a reward cannot be a level",
        "; drop such rows with --missing drop; a reward cannot be a level",
    ),
    (
        lambda: read_log({"X": [0, 1, 1], "S": [0, 0, 1]}).count("X", selection="S"),
        "external",
        "as external=",
        "as --external",
    ),
    (
        lambda: read_log(ROWS, missing="keep"),  # type: ignore[arg-type]
        "missing",
        "missing='keep' is not a rule; use 'drop', 'level' or 'error'",
        "--missing keep is not a rule; use 'drop', 'level' or 'error'",
    ),
    (
        lambda: read_log(ROWS, exact=True),
        "exact",
        "exact=True needs weight=, the column of probabilities",
        "--exact needs --weight, the column of probabilities",
    ),
    (
        lambda: read_log(ROWS, columns={"A": "X", "B": "X"}),
        "columns",
        "two nodes share a column in columns={'A': 'X', 'B': 'X'}",
        "two nodes share a column in --columns A=X --columns B=X",
    ),
    (
        lambda: read_log(ROWS, bins=[1]),  # type: ignore[arg-type]
        "bins",
        "bins must be a mapping such as {'Age': [18, 30]}; found [1]",
        "--bins must be a mapping such as {'Age': [18, 30]}; found [1]",
    ),
    (
        lambda: read_log(ROWS, bins={"X": [30.0, 18.5]}),
        "bins",
        "bins={'X': [30.0, 18.5]} must be numbers that increase, as 18, 30, 50 do",
        "--bins X=30,18.5 must be numbers that increase, as 18, 30, 50 do",
    ),
    (
        lambda: read_log(ROWS, bins={"Y": [1]}).count("X", reward="Y"),
        "bins",
        "the outcome 'Y' is a number; take it out of bins",
        None,
    ),
    (
        NeedsRange("Y", 0, 12),
        "outcome_range",
        "Declare its possible range with outcome_range=(low, high).",
        "Declare its possible range with --outcome-range LOW HIGH.",
    ),
    (
        OutsideRange("Y", 2, (0, 1.5)),
        "outcome_range",
        "outside outcome_range=(0, 1.5). Widen",
        "outside --outcome-range 0 1.5. Widen",
    ),
    (
        lambda: bounded("X -> Y", outcome_range="wide"),
        "outcome_range",
        "outcome_range must be (low, high) with low < high, found 'wide'",
        "--outcome-range must be (low, high) with low < high, found 'wide'",
    ),
    (
        ReservedName("n", MEASURES),
        "columns",
        "for their own columns; rename it with columns=",
        "for their own columns; rename it with --columns",
    ),
    (
        OutsideDomain("X", 3, [0, 1]),
        "domain",
        "it has 0, 1; domain= declares others",
        "it has 0, 1; --domain declares others",
    ),
    (UnknownProfile("x"), "profile", "no profile 'x'; there are sound, paper", None),
    (
        lambda: derive_bounds(
            parse("X -> Y"), "Y | do(X)", read_log(ROWS, weight="n", exact=True)
        ),
        "confidence",
        "an exact law has no sampling error; pass confidence=None",
        "an exact law has no sampling error; pass --confidence none",
    ),
    (
        lambda: bounded("X -> Y", confidence=2),
        "confidence",
        "confidence must be a chance such as 0.95, or None, found 2",
        "--confidence must be a chance such as 0.95, or None, found 2",
    ),
    (
        lambda: bounded("X -> Y", selection_rate=0.5),
        "selection_rate",
        "so selection_rate and selection_limit say nothing; draw one",
        "so --selection-rate and --selection-limit say nothing; draw one",
    ),
    (
        lambda: bounded("X -> Y", selection_rate=2),
        "selection_rate",
        "selection_rate must be a probability such as 0.4 or a range such as (0.3, 0.6), found 2",
        "--selection-rate must be a probability such as 0.4 or a range such as (0.3, 0.6), found 2",
    ),
    (
        lambda: bounded("X -> Y", selection_rate=0),
        "selection_rate",
        "selection_rate is 0, yet rows were logged; give the share of rows",
        "--selection-rate is 0, yet rows were logged; give the share of rows",
    ),
    (
        lambda: bounded("X -> Y", selection_limit=0.5),
        "selection_limit",
        "selection_limit must be a limit of at least 1, as in 1/G <= r <= G, found 0.5",
        "--selection-limit must be a limit of at least 1, as in 1/G <= r <= G, found 0.5",
    ),
    (
        lambda: bounded("X -> Y", max_condition=-1),
        "max_condition",
        "max_condition must be a whole number from 0 on, found -1",
        "max_condition must be a whole number from 0 on, found -1",
    ),
    (
        lambda: bounded("X -> Y", time_limit=-1),
        "time_limit",
        "time_limit must be seconds or None, found -1",
        "--time-limit must be seconds or None, found -1",
    ),
    (
        lambda: bounded("X -> Y", domain=3),
        "domain",
        "domain must be a mapping such as {'X': [0, 1]}, found 3",
        "--domain must be a mapping such as {'X': [0, 1]}, found 3",
    ),
    (
        lambda: bounded("X -> Y", external=ROWS),
        "external",
        "external must be a list of tables, as in [table], found dict",
        "--external must be a list of tables, as in [table], found dict",
    ),
    (
        lambda: bounded("X -> Y", external=[{"Z": [1]}]),
        "external",
        "the dict of columns, given as external=, has Z, none of which is in the graph (X, Y)",
        "the dict of columns, given as --external, has Z, none of which is in the graph (X, Y)",
    ),
    (
        lambda: check(parse("X -> Y"), ROWS, level=2),
        "level",
        "level=2 is not a probability of a false alarm; use 0.05 or such",
        None,
    ),
    (BadOption("seed", "text", 3), "seed", "seed must be text, found 3", None),
    (NeedsArms(), "arms", "give the policy arms=[...] or prior=, or pass arms=[...] to", None),
    (
        BadReward(2, (0, 1), "a"),
        "reward_range",
        "found 2; reward_range= declares another",
        "found 2; reward_range= declares another",
    ),
    (
        lambda: adjusts("X -> Y; Z", covariates=(), treatments="X", outcomes="Y", external="Z"),
        "external",
        "'Z' is external but not among",
        None,
    ),
]
CAVEATS: list[tuple[Callable[[], Iterable[Note]], str, str]] = [
    (
        lambda: read_log({"Age": [*range(50)] * 3}).count("Age").notes[:1],
        "if it is a measurement, cut it with bins={'Age': [...]}",
        "if it is a measurement, cut it with --bins Age=...",
    ),
    (
        lambda: warn_of_strange_levels("Age", ("yuong",), ("young",), "'a.csv'"),
        "a slip for 'young'? If it is right, declare it with domain=",
        "a slip for 'young'? If it is right, declare it with --domain",
    ),
    (
        lambda: bounded("X -> M -> Y; X <-> Y; M -> [S]").caveats,
        "M has no values besides 0, 1; selection could hide others (domain=)",
        "M has no values besides 0, 1; selection could hide others (--domain)",
    ),
    (
        lambda: bounded("X -> Y; Y -> [S]", time_limit=0.0).caveats,
        "part of the search for rules, because time_limit=0.0 s was reached",
        "part of the search for rules, because --time-limit 0 s was reached",
    ),
]


def caught(found: BounditError | Callable[[], object]) -> BounditError:
    """Give an error, or what a call raises."""
    if isinstance(found, BounditError):
        return found
    with pytest.raises(BounditError) as no:
        found()
    return no.value


@pytest.mark.parametrize(("found", "option", "python", "shell"), ERRORS)
def test_errors_name_options_in_python_and_as_flags(
    found: BounditError | Callable[[], object], option: str, python: str, shell: str | None
) -> None:
    error = caught(found)

    assert error.option == option
    assert python in str(error)
    assert (shell or python) in write_with_flags(error.message)


@pytest.mark.parametrize(("found", "python", "shell"), CAVEATS)
def test_caveats_name_options_in_python_and_as_flags(
    found: Callable[[], Iterable[Note]], python: str, shell: str
) -> None:
    notes = list(found())

    assert any(python in str(note) for note in notes)
    assert any(shell in write_with_flags(note) for note in notes)
    assert not any(python in write_with_flags(note).replace("--", "") for note in notes)


def test_what_a_check_could_not_count_is_said_with_flags() -> None:
    finding = Message(TooManyCells("cut them with ", Option("bins", ANY)).message, ".")

    assert write_with_flags(finding).endswith("cut them with --bins.")


def test_plain_words_and_options_without_a_flag_stay() -> None:
    assert write_with_flags("bins={'Age': [...]}") == "bins={'Age': [...]}"
    assert write_with_flags(Message(Option("horizon", 3))) == "horizon=3"

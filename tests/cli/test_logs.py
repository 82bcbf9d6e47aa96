from pathlib import Path

import click
import pytest

from boundit.cli.logs import levels, opened


def test_options_are_those_of_read_log(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("age,n\n17,5\n44,2\n")
    log = opened((str(path),), "n", ("Age=age",), ("Age=18,40",))
    table = log.count(["Age"])

    assert table.levels["Age"] == ("< 18", ">= 40")
    assert table.n.tolist() == [5, 2]


def test_levels_are_read_as_a_log_would() -> None:
    assert levels(("A=1,x,true,null", "B=0.5")) == {"A": [1, "x", True, "null"], "B": [0.5]}


@pytest.mark.parametrize(
    ("columns", "bins", "said"),
    [
        (("Age",), (), "'Age' is not of the form NODE=..."),
        ((), ("Age=old",), "the edge 'old' is no number"),
    ],
)
def test_what_is_no_option_is_refused(
    columns: tuple[str, ...], bins: tuple[str, ...], said: str
) -> None:
    with pytest.raises(click.BadParameter, match=said):
        opened(("log.csv",), None, columns, bins)

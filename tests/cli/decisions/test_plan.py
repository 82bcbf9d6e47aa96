import json

import pytest

from boundit.cli.main import main

GRAPH, QUERY = "U -> Ad -> Click; U -> Click; Ad <-> Click", "Click | do(Ad), U"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["plan", *arguments])
    assert isinstance(left.value.code, int)
    shown = capsys.readouterr()
    return left.value.code, shown.out, shown.err


def test_rare_rewards_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--rate", "Click=0.004", "--rate", "Ad=0.7,0.2,0.1", "--levels", "U=3")
    code, out, err = answer(capsys, GRAPH, QUERY, *flags, "--rows", "1e4,1e6", "--models", "1")

    assert (code, err) == (0, "")
    assert "at a rate of 0.004 intervals at 10,000 rows are" in out
    assert "1,000,000" in out


def test_json_has_the_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = answer(capsys, GRAPH, QUERY, "--rows", "1000", "--models", "1", "--json")

    assert [size["rows"] for size in json.loads(out)["sizes"]] == [1000, None]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--rows", "many"), "'many' is no number of rows"),
        (("--rows", "0.5"), "'0.5' is no number of rows"),
        (("--levels", "U=few"), "'few' is no number of levels"),
        (("--rate", "Ad=often"), "'often' is no chance"),
        (("--rate", "Ad=2"), "the rate of Ad"),
        (("--rate", "Nobody=0.1"), "Nobody"),
    ],
)
def test_what_makes_no_plan_is_refused(
    capsys: pytest.CaptureFixture[str], flags: tuple[str, str], said: str
) -> None:
    code, _, err = answer(capsys, GRAPH, QUERY, *flags)

    assert code == 2
    assert said in err

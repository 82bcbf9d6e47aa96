import click
import pytest
from click.testing import CliRunner

from boundit.cli.numbers import Number, RangeOfNumbers, read_limit, read_rate


@click.command()
@click.option("--limit", type=Number(1))
@click.option("--range", "pair", type=RangeOfNumbers())
@click.option("--rate", "share", type=read_rate)
def told(limit: float | None, pair: object, share: object) -> None:
    click.echo(f"{limit} {pair} {share}")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], "None None None"),
        (["--limit", "2"], "2.0 None None"),
        (["--limit", "inf"], "inf None None"),
        (["--range", "-1", "2.5"], "None (-1.0, 2.5) None"),
        (["--rate", "0.4"], "None None 0.4"),
        (["--rate", "0.3, 0.6"], "None None (0.3, 0.6)"),
        (["--rate", "0,1"], "None None (0.0, 1.0)"),
    ],
)
def test_numbers_are_read(arguments: list[str], shown: str) -> None:
    assert CliRunner().invoke(told, arguments).output == f"{shown}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--limit", "0.5"], "'--limit': 0.5 is not in the range x>=1"),
        (["--limit", "abc"], "'--limit': 'abc' is no number"),
        (["--limit", "nan"], "'--limit': 'nan' is no number"),
        (["--range", "1", "0"], "'--range': 1 0 is no range; the lower end comes first"),
        (["--range", "0", "inf"], "'--range': 0 inf is no range"),
        (["--range", "0", "nan"], "'--range': 0 nan is no range"),
        (["--rate", "much"], "'--rate': 'much' is no rate; write 0.4, or 0.3,0.6 for a range"),
        (["--rate", "0.6,0.3"], "'0.6,0.3' is no rate"),
        (["--rate", "0.1,0.2,0.3"], "'0.1,0.2,0.3' is no rate"),
        (["--rate", "nan"], "'nan' is no rate"),
        (["--rate", "0"], "at a rate of 0 nobody is logged"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_flag(arguments: list[str], said: str) -> None:
    answer = CliRunner().invoke(told, arguments)

    assert answer.exit_code == 2
    assert said in answer.output


def test_a_limit_on_confounding_is_a_number_from_one_on() -> None:
    assert read_limit("1.5") == 1.5
    for text in ("0.9", "inf", "nan", "much"):
        with pytest.raises(click.BadParameter, match="is no limit; write a number from 1 on"):
            read_limit(text)

"""The page of the study of rivals says who wins, where we lose, and has a picture of each."""

import re

from research.tests.online.rival_examples import make_rival_study

from boundit_research.online.rival_page import make_rival_page, write_rival_text

COMMAND = "boundit study rivals"


def test_the_page_says_where_we_win_and_where_we_lose() -> None:
    won = make_rival_page(make_rival_study(80.0), command=COMMAND)
    lost = make_rival_page(make_rival_study(10.0), command=COMMAND)

    assert "every policy of another paper in 2 of 2 settings" in won
    assert "Nowhere beyond chance" in won
    assert "every policy of another paper in 0 of 2 settings" in lost
    assert "in 2: paper, 1,000 points; paper, 30,000 points" in lost
    assert won.count('<svg class="intervals"') == 2
    assert COMMAND in won
    assert "GLUE" in won


def test_the_text_has_all_tables_of_the_page() -> None:
    text = write_rival_text(make_rival_study(60.0), command=COMMAND)

    assert text.startswith("# Rivals")
    assert f"Written by `{COMMAND}`: 60 rounds, seed 0" in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Who regrets least, where",
        "## Where we lose",
        "## In how many settings each regrets less, level, or more",
        "## paper, 1,000 points",
        "## paper, 30,000 points",
    ]
    assert r"| GLUE\* | 60.3 | 60.0 | 60.9 |" in text
    assert "Nowhere beyond chance." in write_rival_text(make_rival_study(90.0), command=COMMAND)


def test_a_single_run_has_a_dash_for_an_interval() -> None:
    study = make_rival_study(40.0, runs=1)
    said = (str(study), write_rival_text(study, command=""), make_rival_page(study, command=""))
    shown = [re.sub(r"dominant", "", one) for one in said]

    assert all("nan" not in one and "+30.0 –" in one for one in shown)
    assert "+60.0 –" in str(study.study)
    assert "nan" not in str(study.study)
    assert "1 run." in shown[1]

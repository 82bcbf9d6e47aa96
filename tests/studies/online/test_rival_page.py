"""The page of the study of rivals says who wins, where we lose, and has a picture of each."""

from boundit.studies.online.log_study import LogStudy, LogStudySettings
from boundit.studies.online.log_study_rows import LogRegrets
from boundit.studies.online.rival_page import make_rival_page
from boundit.studies.online.rival_study import RivalStudy


def make_study(glue: float) -> RivalStudy:
    finals = {
        "LinUCB": [100.0, 110.0, 104.0],
        "Fused": [50.0, 52.0, 49.0],
        "GLUE": [glue, glue + 1, glue],
    }
    regrets = [LogRegrets("paper", "paper", n, finals) for n in (1_000, 30_000)]
    return RivalStudy(LogStudy(tuple(regrets), LogStudySettings(rounds=60)))


def test_the_page_says_where_we_win_and_where_we_lose() -> None:
    won = make_rival_page(make_study(80.0), command="boundit simulate --study rivals")
    lost = make_rival_page(make_study(10.0), command="boundit simulate --study rivals")

    assert "lowest mean regret in 2 of 2 settings" in won
    assert "Nowhere beyond chance" in won
    assert "lowest mean regret in 0 of 2 settings" in lost
    assert "paper at 1,000 points; paper at 30,000 points" in lost
    assert won.count('<svg class="intervals"') == 2
    assert "boundit simulate --study rivals" in won
    assert "GLUE" in won

"""A small study of rivals with made-up regrets, for the tests of its tables and pages."""

from boundit_research.online.log_study import LogStudy, LogStudySettings
from boundit_research.online.log_study_rows import LogRegrets
from boundit_research.online.rival_study import RivalStudy


def make_rival_study(glue: float, *, worlds: int = 1, runs: int = 3) -> RivalStudy:
    """GLUE regrets so much in every run, Fused about 50, and 70 where it sees rewards alone."""
    finals = {
        "LinUCB": [100.0, 110.0, 104.0],
        "Fused": [50.0, 52.0, 49.0],
        "Fused-unseen": [70.0, 71.0, 72.0],
        "GLUE*": [glue, glue + 1, glue],
    }
    regrets = [
        LogRegrets("paper", f"world {i}", n, {k: v[:runs] for k, v in finals.items()})
        for n in (1_000, 30_000)
        for i in range(worlds)
    ]
    return RivalStudy(LogStudy(tuple(regrets), LogStudySettings(rounds=60)))

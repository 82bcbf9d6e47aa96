import numpy as np

from boundit.bandit.decision import Decision, Scores


def test_the_chosen_arm_comes_first_with_its_score() -> None:
    arms = tuple((name,) for name in ("A", "<b>", "C", "D"))
    table = np.array([[0.5, 0.25], [np.inf, np.inf]])
    scores = Scores(arms, (0, 1, 2, 3), 0, None, table)
    shown = Decision("7<", ("A",), ("old",), 0, scores, None)._repr_html_()

    assert "Use A in context old" in shown
    assert shown.index(">A</td>") < shown.index("&lt;b&gt;")
    assert "chosen, truncated to the bounds" in shown
    assert "2 arms were not scored: their bounds rule them out." in shown
    assert "Decision 7&lt;" in shown
    assert "not played yet" in shown


def test_very_many_arms_are_not_all_shown() -> None:
    arms, table = tuple((f"arm {i}",) for i in range(5000)), np.arange(5000.0)
    scores = Scores(arms, tuple(range(5000)), 3, None, np.array([table, table]).T)
    decision = Decision("7", ("arm 3",), (), 3, scores, None)

    assert "Shown are 30 of 5,000 rows; decision.scores has all." in decision._repr_html_()
    assert len(decision._repr_html_()) < 12_000

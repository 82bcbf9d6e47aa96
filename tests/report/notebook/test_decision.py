from boundit.bandit.decision import Decision
from boundit.terms.bound import Arm


def test_the_chosen_arm_comes_first_with_its_score() -> None:
    index = dict[Arm, float]({("A",): 0.25, ("<b>",): float("inf")})
    decision = Decision("7<", ("A",), ("old",), (), index, capped=(("A",),), skipped=2)
    shown = decision._repr_html_()

    assert "Use A in context old" in shown
    assert shown.index(">A</td>") < shown.index("&lt;b&gt;")
    assert "chosen, lowered by the bounds" in shown
    assert "2 arms were not scored: their bounds rule them out." in shown
    assert "Decision 7&lt;" in shown
    assert "not played yet" in shown


def test_very_many_arms_are_not_all_shown() -> None:
    index = dict[Arm, float]({(f"arm {i}",): float(i) for i in range(5000)})
    decision = Decision("7", ("arm 3",), (), (), index)

    assert "Shown are 30 of 5,000 rows; decision.index has all." in decision._repr_html_()
    assert len(decision._repr_html_()) < 12_000
    assert repr(decision) == "Decision(id='7', arm=('arm 3',), context=())"

from boundit.core.verdict import Verdict


def test_a_verdict_is_a_truth_value_that_says_why() -> None:
    yes = Verdict(True, "Definition 2", "every non-causal path is blocked")

    assert yes
    assert not Verdict(False, "Definition 2", "")
    assert str(yes) == "yes, by Definition 2: every non-causal path is blocked"

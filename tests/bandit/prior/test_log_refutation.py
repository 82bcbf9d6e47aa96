"""The message that rounds contradict the log."""

from boundit.bandit.prior.log_refutation import LogRefutation


def test_it_names_the_arm_the_context_and_what_was_seen() -> None:
    said = str(LogRefutation(("A",), ("new",), ("W",), (1,), 123.4, 0.05))
    assert "arm ('A',) in context ('new',) where W is (1,)" in said
    assert "evidence 123, refuted at level 0.05" in said
    plain = str(LogRefutation(("A",), (), (), (), 123.4, 0.05))
    assert "arm ('A',): evidence" in plain

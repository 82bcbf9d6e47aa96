from threading import Event, Thread

import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.errors import BadOption, ForeignBounds
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.ucb import UCB
from boundit.bandit.watch import Watch
from tests.bandit.players import ARMS, CONTEXTS, play, table


def test_a_failure_while_learning_leaves_no_trace() -> None:
    """The algorithm refuses features of a new length; the id must not count as learned."""
    policy = LinUCB(arms=["A"], features=lambda context, _: [1.0] * (1 + len(context)))
    long = policy.decide((1,), id="long")
    policy.learn(policy.decide(()), 1.0)
    before = policy.state()

    with pytest.raises(Exception, match="are 2 numbers, and this policy learns 1"):
        policy.learn(long, 1.0)

    assert policy.state() == before
    assert policy.desk.events == 1


def test_a_budget_plays_every_bounded_pair_that_often() -> None:
    policy = UCB(prior=table(0.05), horizon=400, watch=Watch(plays=2))

    decisions = play(policy, 200)

    played = [(d.context, d.arm) for d in decisions]
    assert min(played.count((c, a)) for c in CONTEXTS for a in ARMS) >= 2
    lazy = play(UCB(prior=table(0.05), horizon=400, watch=True), 200)
    assert (
        min([(d.context, d.arm) for d in lazy].count((c, a)) for c in CONTEXTS for a in ARMS)
        == 0
    )


def test_bounds_may_come_later() -> None:
    policy = UCB(arms=ARMS, context=["U1", "U2"], horizon=400)
    play(policy, 50)

    policy.refresh(table(0.01))

    assert policy.decide((1, 1)).arm == (1, 1)
    assert UCB.from_state(policy.state()).decide((1, 1)).arm == (1, 1)
    with pytest.raises(ForeignBounds):
        UCB(arms=[(7, 7)], context=["U1", "U2"], horizon=9).refresh(table())


def test_options_are_judged() -> None:
    with pytest.raises(BadOption, match="watch must be True, False or a Watch"):
        UCB(arms=["A"], watch=0.05)  # type: ignore[arg-type]


def test_a_copy_has_a_lock_of_its_own() -> None:
    desk = UCB(arms=["A"]).desk

    twin = desk.copied()

    assert isinstance(twin, Desk)
    assert twin.lock is not desk.lock
    assert twin.record() == desk.record()


def test_a_repeat_waits_until_the_first_is_done() -> None:
    """Two threads hand in the same reward at once; the second must find it learned."""
    policy = UCB(arms=["A"], horizon=9)
    decision, inside, go_on = policy.decide(id="x"), Event(), Event()
    taken: list[str] = []

    def slowly(_: Decision, __: float) -> None:
        taken.append("first")
        inside.set()
        go_on.wait(5)

    def again(_: Decision, __: float) -> None:
        taken.append("second")

    first = Thread(target=policy.desk.learn, args=(decision, 1.0, slowly))
    second = Thread(target=policy.desk.learn, args=(decision, 1.0, again))
    first.start()
    inside.wait(5)
    second.start()
    second.join(0.1)
    go_on.set()
    first.join(5)
    second.join(5)

    assert taken == ["first"]

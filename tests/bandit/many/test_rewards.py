"""Rewards learned at once leave the state of a loop, bit for bit, or change nothing."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.many.rewards import group_decisions, list_decisions, list_ids
from boundit.bandit.prior.watch import Watch
from boundit.terms.errors import BounditError
from tests.bandit.all_policies import CONTEXTS, NAMES, change, make, planned_table, play, table
from tests.bandit.many.test_decisions import PRIORS, draw_contexts


def learn_in_a_loop(policy: Any, decisions: Any, rewards: Any, observed: Any = None) -> None:
    for i, (decision, reward) in enumerate(zip(decisions, rewards, strict=True)):
        policy.learn(decision, reward, observed=observed[i] if observed else None)


def make_pair(name: str, **options: Any) -> tuple[Any, Any]:
    one, many = make(name, **options), make(name, **options)
    for policy in (one, many):
        play(policy, 6)
    return one, many


def reload(decisions: Any) -> list[Decision]:
    return [Decision.from_json(decision.to_json()) for decision in decisions]


@pytest.mark.parametrize("form", [lambda given: given, list, iter, reload])
@pytest.mark.parametrize("prior", ["none", "bounds"])
@pytest.mark.parametrize("name", NAMES)
def test_the_state_is_that_of_a_loop(name: str, prior: str, form: Any) -> None:
    one, many = make_pair(name, prior=PRIORS[prior])
    contexts, rewards = draw_contexts(20), np.random.default_rng(1).random(20)

    learn_in_a_loop(one, [one.decide(context) for context in contexts], rewards.tolist())
    many.learn_many(form(many.decide_many(contexts)), rewards)

    assert many.state() == one.state()
    again = [policy.decide_many(contexts[:5]) for policy in (one, many)]
    assert list(again[0]) == list(again[1])


@pytest.mark.parametrize("given", [np.array([0, 1, 1]), np.array([False, True, True]), "list"])
def test_rewards_are_numbers_of_any_kind(given: Any) -> None:
    one, many = make_pair("LinUCB")
    rewards = [0, True, np.float32(1.0)] if isinstance(given, str) else given
    contexts = draw_contexts(3)

    learn_in_a_loop(one, [one.decide(context) for context in contexts], rewards)
    many.learn_many(many.decide_many(contexts), rewards)

    assert many.state() == one.state()


@pytest.mark.parametrize("remember", [100, 3, 1, 0])
@pytest.mark.parametrize("name", ["UCB", "LinUCB", "OAM", "Fused"])
def test_repeats_are_those_of_a_loop(name: str, remember: int) -> None:
    one, many = make_pair(name, remember=remember)
    ids = [*"abca", "0", *"bdeafg", "5", "a"]
    contexts, rewards = draw_contexts(len(ids)), np.linspace(0, 1, len(ids))

    decided = [one.decide(c, id=name) for c, name in zip(contexts, ids, strict=True)]
    learn_in_a_loop(one, decided, rewards.tolist())
    decisions = many.decide_many(contexts, ids)
    many.learn_many(decisions, rewards)

    assert many.state() == one.state()
    if remember == 100:
        many.learn_many(decisions, rewards)
        assert many.state() == one.state()


@pytest.mark.parametrize("name", NAMES)
def test_rewards_refute_bounds_in_turn(name: str) -> None:
    options: dict[str, Any] = {"prior": table(0.1), "watch": Watch(alpha=0.2, plays=2)}
    one, many = make(name, **options), make(name, **options)
    rng = np.random.default_rng(0)
    contexts, rewards = draw_contexts(80), np.where(rng.random(80) < 0.9, 1.0, 0.0)

    learn_in_a_loop(one, [one.decide(c) for c in contexts], rewards.tolist())
    many.learn_many(many.decide_many(contexts), rewards)

    assert many.refutation
    assert many.state() == one.state()


@pytest.mark.parametrize("shown", [1.0, 0.5])
def test_cells_of_a_plan_are_counted_as_in_a_loop(shown: float) -> None:
    one, many = make_pair("Fused", prior=planned_table())
    rng, contexts = np.random.default_rng(0), draw_contexts(30)
    observed = [{"W": int(rng.integers(2))} if rng.random() < shown else None for _ in contexts]
    rewards = rng.random(30).round()

    expected = [one.decide(context) for context in contexts]
    decisions = many.decide_many(contexts)
    assert list(decisions) == expected
    learn_in_a_loop(one, expected, rewards.tolist(), observed)
    many.learn_many(decisions, rewards, observed=observed)

    assert many.state() == one.state()
    before = many.state()
    with pytest.raises(BounditError, match=r"^row 1: 'W' has no level 7"):
        many.learn_many(many.decide_many(contexts[:2]), [1, 1], observed={"W": [1, 7]})
    assert many.state()["statistics"] == before["statistics"]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_of_repeats_alone_or_of_nothing_changes_nothing(name: str, prior: str) -> None:
    policy = make(name, prior=PRIORS[prior])
    decisions = policy.decide_many(draw_contexts(3))
    policy.learn_many(decisions, [1, 0, 1])
    before = policy.state()

    policy.learn_many(decisions, [1, 0, 1])
    policy.learn_many([], [])

    assert policy.state() == before


@pytest.mark.parametrize(
    ("change_batch", "message"),
    [
        (lambda d, r: (d, [*r[:2], 1.5]), "row 2: the reward of decision '2' must be"),
        (lambda d, r: (d, [r[0], "1", 0]), "row 1: the reward of decision '1' must be"),
        (lambda d, r: (d, [r[0], 10**400, 0]), "row 1: the reward of decision '1' must be"),
        (lambda d, _: (d, np.full(3, np.nan)), "row 0: the reward"),
        (lambda d, r: (d, r[:2]), "rewards must be one for each of 3, found '2 of them'"),
        (lambda d, _: (d, 0.5), "rewards must be a list or an array of numbers, found 0.5"),
        (lambda d, r: ([*d[:2], "x"], r), "row 2: str is no decision"),
        (lambda d, r: (d[0], r), "decisions must be a list of decisions"),
        (lambda d, r: ([*d[:2], change(d[2], arm=(9, 9))], r), r"row 2: \(9, 9\) is no arm"),
        (lambda d, r: ([*d[:2], change(d[2], arm=[0])], r), "row 2: its arm, context or"),
        (lambda d, r: ([*d[:2], change(d[2], context=(0,))], r), "row 2: the context"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_bad_row_is_named_and_nothing_changes(
    name: str, change_batch: Any, message: str
) -> None:
    _, policy = make_pair(name)
    decisions = policy.decide_many(CONTEXTS[:3], ids=["0", "1", "2"])
    given, rewards = change_batch(decisions, [0.0, 1.0, 0.0])
    before = policy.state()

    with pytest.raises(BounditError, match=f"^{message}"):
        policy.learn_many(given, rewards)

    assert policy.state() == before


@pytest.mark.parametrize("name", ["LinUCB", "LinUCB shared", "OAM"])
def test_features_that_do_not_fit_change_nothing(name: str) -> None:
    policy = make(name)
    decisions = reload(policy.decide_many(CONTEXTS))
    before = policy.state()
    decisions[2] = change(decisions[2], features="odd")

    with pytest.raises(BounditError, match=r"^row 2: the features of arm"):
        policy.learn_many(decisions, np.ones(4))

    assert policy.state() == before


class CallersStore(set[str]):
    """A store of ids as a caller has it."""

    def add(self, name: str) -> bool:  # type: ignore[override]
        new = name not in self
        super().add(name)
        return new


@pytest.mark.parametrize("name", ["UCB", "OAM"])
def test_a_store_forgets_what_was_refused(name: str) -> None:
    store = CallersStore()
    policy = make(name, remember=store)
    decisions = policy.decide_many(CONTEXTS, ids=list("abca"))

    policy.learn_many(decisions[:1], [1.0])
    strict = make("Fused", prior=planned_table(), remember=store)
    with pytest.raises(BounditError, match=r"^row 2: observed must map names to values"):
        strict.learn_many(decisions, np.ones(4), observed=[None, None, 7, 7])
    assert store == {"a"}

    policy.learn_many(decisions, np.ones(4))
    assert store == {"a", "b", "c"}
    assert policy.n_learned == 3


def test_decisions_that_teach_the_same_are_grouped() -> None:
    policy = make("LinUCB")
    listed = list_decisions(iter(policy.decide_many([CONTEXTS[0], CONTEXTS[1], CONTEXTS[0]])))

    kinds, places = group_decisions(listed)

    assert [kind.id for kind in kinds] == list_ids(listed)[:2]
    assert places.tolist() == [0, 1, 0]


def test_threads_may_share_a_policy() -> None:
    policy = make("LinTS")

    def serve(worker: int) -> None:
        for k in range(3):
            ids = [f"{worker}-{k}-{i}" for i in range(20)]
            policy.learn_many(policy.decide_many(draw_contexts(20), ids), np.ones(20))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(serve, range(4)))

    assert policy.n_learned == 240


def test_a_variable_that_the_policy_does_not_know_is_refused_and_nothing_changes() -> None:
    policy = make("Fused", prior=planned_table())
    one, two = policy.decide_many(draw_contexts(2))
    before = policy.state()
    said = r"'w'.*; did you mean 'W'\? it observes W$"
    slips: list[Any] = [[None, {"w": 1}], {"W": [0, 0], "w": [1, 1]}]
    for observed in ({"w": 1}, {"W": 0, "w": 1}):
        with pytest.raises(BounditError, match=said):
            policy.learn(one, 1.0, observed=observed)
        with pytest.raises(BounditError, match=said):
            policy.check_observed(observed)
    for slip in slips:
        with pytest.raises(BounditError, match=f"^row [01]: .*{said}"):
            policy.learn_many([one, two], [1.0, 0.0], observed=slip)
    assert policy.state() == before

    u1 = one.context[0]
    policy.learn(one, 1.0, observed={"W": None, "U1": u1})  # of the table, and not of the plan
    assert policy.n_learned == 1

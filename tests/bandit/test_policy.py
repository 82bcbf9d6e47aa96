"""The contract: what every policy of the room does, whatever its algorithm."""

import copy
import json
import pickle
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.policy import Policy
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from tests.bandit.all_policies import (
    ARMS,
    CONTEXTS,
    DETERMINISTIC,
    NAMES,
    ORDER_FREE,
    POLICIES_WITH_OPTIONS,
    SAMPLING,
    change,
    compute_reward,
    fewer_for_oam,
    list_pulls,
    make,
    play,
    table,
)
from tests.bandit.test_learned_ids import Noted

ROUNDS = 60
PRIORS = [None, table(0.15)]
each_policy = pytest.mark.parametrize("name", NAMES)
with_and_without_bounds = pytest.mark.parametrize("prior", PRIORS, ids=["plain", "bounded"])


def test_the_policies_are_found() -> None:
    assert {"UCB", "KLUCB", "LinUCB", "LinUCB shared", "TS", "LinTS"} <= set(NAMES)
    assert {"TS", "LinTS", "Fused"} == set(SAMPLING)


@each_policy
def test_it_is_a_policy_whose_options_go_by_name(name: str) -> None:
    policy = make(name)

    assert isinstance(policy, Policy)
    with pytest.raises(TypeError):
        POLICIES_WITH_OPTIONS[name][0](1.0)


@each_policy
@with_and_without_bounds
def test_deciding_twice_changes_nothing(name: str, prior: BoundTable | None) -> None:
    policy = make(name, prior=prior)
    play(policy, fewer_for_oam(name, ROUNDS))
    before = policy.state()

    first, second = (policy.decide((1, 0), id="x") for _ in range(2))

    assert first == second
    assert policy.state() == before


@each_policy
def test_a_retry_under_the_same_id_gives_the_same_decision(name: str) -> None:
    policy = make(name, prior=table())
    play(policy, fewer_for_oam(name, ROUNDS))

    first = policy.decide((1, 0))
    again = type(policy).from_state(policy.state()).decide((1, 0), id=first.id)

    assert first == policy.decide((1, 0), id=first.id) == again


@each_policy
@with_and_without_bounds
def test_arms_come_as_often_as_their_propensities_say(
    name: str, prior: BoundTable | None
) -> None:
    """A thousand visitors of one context while no reward comes, a floor for every arm."""
    policy = make(name, prior=prior, explore=0.2)
    play(policy, fewer_for_oam(name, ROUNDS))
    found = [policy.decide((1, 0)) for _ in range(1000)]
    chances = found[0].propensities

    assert set(chances) == set(ARMS)
    assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
    assert min(chances.values()) >= 0.05
    for arm, chance in chances.items():
        share = np.mean([decision.arm == arm for decision in found])
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / 1000) + 0.01
    for decision in found[:5]:
        assert decision.propensity == decision.propensities[decision.arm]
        again = Decision.from_json(decision.to_json(propensities=True))
        assert again == decision
        assert again.propensities == decision.propensities == chances


@each_policy
@with_and_without_bounds
def test_explored_arms_are_learned_from_and_a_state_goes_on(
    name: str, prior: BoundTable | None
) -> None:
    policy = make(name, prior=prior, explore=0.5)
    play(policy, 20)
    again = type(policy).from_state(json.loads(json.dumps(policy.state())))

    one, two = play(policy, 20, start=20), play(again, 20, start=20)

    assert one == two
    assert policy.state() == again.state()
    assert policy.n_learned == 40
    assert any(decision.branch == "explore" for decision in one)


@each_policy
def test_only_what_is_sampled_hangs_on_the_id(name: str) -> None:
    policy = make(name, prior=table())
    play(policy, fewer_for_oam(name, ROUNDS))

    first, second = policy.decide((1, 0)), policy.decide((1, 0))

    assert first.id != second.id
    # Without a plan Fused draws for nothing but ties.
    assert (first.index == second.index) == (name in {*DETERMINISTIC, "Fused"})


@each_policy
@with_and_without_bounds
def test_the_same_events_give_the_same_state_bit_for_bit(
    name: str, prior: BoundTable | None
) -> None:
    one, two = make(name, prior=prior), make(name, prior=prior)

    assert play(one, fewer_for_oam(name, ROUNDS)) == play(two, fewer_for_oam(name, ROUNDS))
    assert one.state() == two.state()


@pytest.mark.parametrize("name", SAMPLING)
def test_another_seed_is_another_run(name: str) -> None:
    one, two = play(make(name), ROUNDS), play(make(name, seed=1), ROUNDS)

    assert list_pulls(one) != list_pulls(two)
    assert list_pulls(one) == list_pulls(play(make(name, seed=1).fresh(seed=0), ROUNDS))


@each_policy
def test_a_mapping_a_tuple_and_a_list_are_one_context(name: str) -> None:
    policy = make(name, prior=table())
    play(policy, fewer_for_oam(name, ROUNDS))
    given = [{"U2": 0, "U1": 1, "Other": "ignored"}, (1, 0), [1, 0]]

    decisions = [policy.decide(context, id="x") for context in given]

    assert decisions[0] == decisions[1] == decisions[2]


@each_policy
@with_and_without_bounds
def test_arms_come_and_go(name: str, prior: BoundTable | None) -> None:
    policy = make(name, prior=prior)
    play(policy, fewer_for_oam(name, ROUNDS))

    assert policy.decide((0, 0), arms=[(1, 1)]).arm == (1, 1)
    for i in range(8):
        decision = policy.decide((0, 0), arms=[(1, 0), (2, 1)], id=f"new {i}")
        assert decision.arm in {(1, 0), (2, 1)}
        policy.learn(decision, 1.0)
    assert policy.decide((0, 0)).arm in ARMS


@each_policy
def test_the_order_in_which_arms_are_passed_does_not_matter(name: str) -> None:
    policy = make(name, prior=table())
    play(policy, fewer_for_oam(name, ROUNDS))

    there, back = (
        policy.decide((1, 1), arms=arms, id="x") for arms in (ARMS, tuple(reversed(ARMS)))
    )

    assert there == back


@each_policy
@with_and_without_bounds
def test_state_survives_json_and_goes_on_bit_for_bit(
    name: str, prior: BoundTable | None
) -> None:
    policy = make(name, prior=prior, watch=True)
    play(policy, fewer_for_oam(name, ROUNDS))
    text = json.dumps(policy.state(), allow_nan=False)

    twin = type(policy).from_state(json.loads(text))

    assert twin.state() == policy.state() == json.loads(text)
    assert play(twin, 20, start=ROUNDS) == play(policy, 20, start=ROUNDS)
    assert twin.state() == policy.state()


@each_policy
@with_and_without_bounds
def test_a_repeated_reward_counts_once(name: str, prior: BoundTable | None) -> None:
    policy = make(name, prior=prior, watch=True)
    decisions = play(policy, fewer_for_oam(name, ROUNDS))
    before = policy.state()

    for decision in decisions:
        policy.learn(Decision.from_json(decision.to_json()), 1.0)

    assert policy.state() == before


@pytest.mark.parametrize("name", ORDER_FREE)
@with_and_without_bounds
def test_rewards_may_come_late_and_out_of_order(name: str, prior: BoundTable | None) -> None:
    """A decision reloaded after a restart is learned from as if it had never left."""
    prompt = make(name, prior=prior)
    decisions = play(prompt, ROUNDS)
    late = make(name, prior=prior)
    kept = [decision.to_json() for decision in decisions]
    random.Random(5).shuffle(kept)

    for text in kept:
        decision = Decision.from_json(text)
        late.learn(decision, compute_reward(decision))

    _assert_same_beliefs(late, prompt)


@pytest.mark.parametrize("name", ORDER_FREE)
@with_and_without_bounds
def test_two_halves_put_together_are_the_whole(name: str, prior: BoundTable | None) -> None:
    whole = make(name, prior=prior, watch=True)
    decisions = play(whole, ROUNDS)
    one, two = (make(name, prior=prior, watch=True) for _ in range(2))
    for i, decision in enumerate(decisions):
        (one, two)[i % 2].learn(decision, compute_reward(decision))

    merged = one.merged(two)

    _assert_same_beliefs(merged, whole)
    assert sorted(merged.state()["learned_ids"]) == sorted(d.id for d in decisions)


@pytest.mark.parametrize("name", ORDER_FREE)
def test_what_two_workers_shared_when_they_parted_counts_once(name: str) -> None:
    whole = make(name, prior=table(), watch=True)
    decisions = play(whole, ROUNDS)
    base = make(name, prior=table(), watch=True)
    for decision in decisions[:20]:
        base.learn(decision, compute_reward(decision))
    one, two = (type(base).from_state(base.state()) for _ in range(2))
    for i, decision in enumerate(decisions[20:]):
        (one, two)[i % 2].learn(decision, compute_reward(decision))

    _assert_same_beliefs(one.merged(two, since=base), whole)
    with pytest.raises(BounditError, match="both have learned decision '0'; since= tells"):
        one.merged(two)
    with pytest.raises(BounditError, match="since= has learned what one of the two has not"):
        make(name, prior=table()).merged(two, since=base)
    with pytest.raises(BounditError, match="other arms, contexts, rewards or bounds"):
        one.merged(make(name, prior=table(0.3)))


@each_policy
def test_learned_ids_are_a_window_and_all_rewards_count(name: str) -> None:
    """Neither memory nor state grows with what was learned; a repeat beyond counts again."""
    policy = make(name, prior=table(), remember=5)
    decisions = play(policy, 12)
    fuller = type(policy).from_state(json.loads(json.dumps(policy.state())))

    assert policy.n_learned == fuller.n_learned == 12
    assert policy.state()["learned_ids"] == [d.id for d in decisions[-5:]]
    for decision in decisions[-5:]:
        policy.learn(decision, 1.0)
    assert policy.state() == fuller.state()
    policy.learn(decisions[0], 1.0)
    assert policy.n_learned == 13
    assert policy.fresh().state()["remember"] == 5


@pytest.mark.parametrize("name", ORDER_FREE)
def test_merging_needs_the_ids_learned_since(name: str) -> None:
    base = make(name, prior=table(), remember=6)
    play(base, 20)
    one, two = (type(base).from_state(base.state()) for _ in range(2))
    play(one, 5, start=100)
    play(two, 3, start=200)

    merged = one.merged(two, since=base)

    assert merged.n_learned == 28
    assert len(merged.state()["learned_ids"]) == 6
    with pytest.raises(BounditError, match="20 rewards came since they parted, and 6 ids are"):
        base.merged(make(name, prior=table(), remember=6))
    play(one, 2, start=300)
    with pytest.raises(BounditError, match="7 rewards came since they parted, and 6 ids are"):
        one.merged(two, since=base)


@each_policy
def test_a_store_of_the_callers_says_which_rewards_are_new(name: str) -> None:
    store = Noted()
    policy = make(name, prior=table(), remember=store)
    decisions = play(policy, 8)
    before = policy.state()

    for decision in decisions:
        policy.learn(decision, 1.0)
    with pytest.raises(BounditError):
        policy.learn(change(policy.decide((0, 0), id="odd"), arm=(0, 7)), 1.0)

    assert (before["learned_ids"], policy.state()) == ([], before)
    assert list(store.ids) == [decision.id for decision in decisions]
    with pytest.raises(BounditError, match="its ids are in a store of yours"):
        type(policy).from_state(before)
    back = type(policy).from_state(before, remember=store)
    back.learn(decisions[0], 1.0)
    assert back.state() == before
    assert policy.fresh().n_learned == 0


@each_policy
def test_a_refused_reward_leaves_no_id_in_the_store(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Noted()
    policy = make(name, prior=table(), remember=store)
    decision = policy.decide((0, 0), id="seen")

    with monkeypatch.context() as patch:
        patch.setattr(type(policy), "take", _refuse)
        with pytest.raises(RuntimeError, match="no room"):
            policy.learn(decision, 1.0)

    assert not store.ids
    policy.learn(decision, 1.0)
    assert policy.n_learned == 1


def _refuse(*_: object) -> None:
    raise RuntimeError("no room")


@pytest.mark.parametrize("name", [*DETERMINISTIC, "TS"])
def test_bounds_that_say_nothing_change_no_pull(name: str) -> None:
    """The promise behind the tie rule: with [0, 1] everywhere a policy is its plain self."""
    plain, trivial = make(name), make(name, prior=table(None))

    assert list_pulls(play(plain, fewer_for_oam(name, 400))) == list_pulls(
        play(trivial, fewer_for_oam(name, 400))
    )


@pytest.mark.parametrize("name", ORDER_FREE)
def test_arms_that_cannot_win_are_not_looked_at(name: str) -> None:
    """3.10; that nobody is missed is shown for each kernel, against scoring all arms."""
    decisions = play(make(name, prior=table(0.1)), 120)

    assert sum(decision.skipped for decision in decisions) > 0
    for decision in decisions:
        assert len(decision.index) + decision.skipped <= len(ARMS)
        assert decision.arm in decision.index


@each_policy
def test_copies_and_pickles_go_on_by_themselves(name: str) -> None:
    policy = make(name, prior=table())
    play(policy, 20)
    before = policy.state()

    for twin in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert twin.state() == before
        play(twin, 5, start=20)

    assert policy.state() == before


@each_policy
def test_a_fresh_one_has_the_settings_and_nothing_learned(name: str) -> None:
    kind, needed = POLICIES_WITH_OPTIONS[name]
    options = {key: value for key, value in needed.items() if key != "horizon"}
    unbound = kind(**options)

    bound = unbound.fresh(arms=ARMS, context=["U1", "U2"], horizon=1000)

    assert play(bound, 20) == play(make(name), 20)
    assert bound.fresh().state() == make(name).state()
    with pytest.raises(BounditError, match="no arms to choose from; give the policy arms="):
        unbound.decide((0, 0))


@each_policy
def test_refreshed_bounds_bind_from_the_next_decision_on(name: str) -> None:
    policy = make(name, prior=table(None))
    play(policy, fewer_for_oam(name, ROUNDS))
    learned = policy.state()["statistics"]

    policy.refresh(table(0.01))

    assert policy.state()["statistics"] == learned
    for context in CONTEXTS:
        best = policy.decide(context)
        truth = table(0.0)[best.arm, context].upper
        assert best.index[best.arm] <= truth + 0.01 + 1e-12


def _bound_ads(ads: Sequence[str], ages: Sequence[str], *, best: str = "b") -> BoundTable:
    rows: list[dict[str, object]] = [
        {"Ad": ad, "Age": age, "lower": 0.0, "upper": 0.9 if ad == best else 0.8}
        for ad in ads
        for age in ages
    ]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
    )


def _play_ads(policy: Any, ages: Sequence[str], rounds: int, start: int = 0) -> list[Decision]:
    decisions = []
    for t in range(start, start + rounds):
        decisions.append(policy.decide({"Age": ages[t % len(ages)]}, id=str(t)))
        policy.learn(decisions[-1], (t % 3) / 2)
    return decisions


def _make_with(name: str, prior: BoundTable, **options: object) -> Any:
    kind, needed = POLICIES_WITH_OPTIONS[name]
    return kind(prior=prior, **{**needed, **options})


@each_policy
def test_new_arms_are_taken_in_and_played(name: str) -> None:
    """They were never tried, and their bound is the highest: so they are, in every context."""
    policy = _make_with(name, _bound_ads("bc", ["old", "young"]))
    _play_ads(policy, ["old", "young"], 12)

    policy.refresh(_bound_ads("abc", ["kid", "old", "young"], best="a"))
    played = _play_ads(policy, ["old", "young", "kid"], 30, start=12)

    assert policy.spec.arms == (("b",), ("c",), ("a",))
    assert ("a",) in {decision.arm for decision in played}
    assert policy.n_learned == 42
    restored = type(policy).from_state(json.loads(json.dumps(policy.state())))
    assert restored.state() == policy.state()
    assert restored.decide("kid", id="x") == policy.decide("kid", id="x")


@each_policy
def test_vanished_arms_are_played_no_more_and_still_learned(name: str) -> None:
    policy = _make_with(name, _bound_ads("abc", ["old", "young"], best="c"))
    _play_ads(policy, ["old", "young"], 9)
    late = [policy.decide("old", arms=[arm], id=f"late {arm}") for arm in "abc"]
    kept = [decision.to_json() for decision in late]

    policy.refresh(_bound_ads("ab", ["old"]))

    assert policy.spec.retired == (("c",),)
    played = _play_ads(policy, ["old", "young"], 12, start=9)
    assert {decision.arm for decision in played} <= {("a",), ("b",)}
    for decision in (*late[:2], Decision.from_json(kept[2])):
        policy.learn(decision, 1.0)
    assert policy.n_learned == 24
    policy.refresh(_bound_ads("abc", ["old", "young"]))
    assert policy.spec.retired == ()


@each_policy
def test_rewards_of_decisions_before_a_refresh_count_as_they_would_have(name: str) -> None:
    """As if the wider table had been there from the start; features have grown since."""
    wide = _bound_ads("abcd", ["kid", "old", "young"])
    policy = _make_with(name, _bound_ads("bd", ["old", "young"]))
    early = _play_ads(policy, ["old", "young"], 10)
    late = [policy.decide("young", arms=[arm], id=f"late {arm}") for arm in "bd"]
    policy.refresh(wide)
    always = _make_with(name, wide)
    for t, decision in enumerate(early):
        always.learn(decision, (t % 3) / 2)
    for decision in late:
        policy.learn(decision, 1.0)
        always.learn(Decision.from_json(decision.to_json()), 1.0)

    if name in DETERMINISTIC and name != "OAM":  # draws hang on places, explorations on time
        for age in ("kid", "old", "young"):
            one, two = (p.decide(age, arms=list("abcd"), id="x") for p in (policy, always))
            assert one.index == pytest.approx(two.index, abs=1e-9)
    assert policy.n_learned == always.n_learned == 12


@pytest.mark.parametrize("name", ORDER_FREE)
def test_two_workers_that_were_refreshed_alike_are_merged(name: str) -> None:
    base = _make_with(name, _bound_ads("bc", ["old"]))
    _play_ads(base, ["old"], 6)
    one, two, whole = (type(base).from_state(base.state()) for _ in range(3))
    one.refresh(_bound_ads("abc", ["old"]))
    with pytest.raises(BounditError, match="other arms, contexts, rewards or bounds"):
        one.merged(two, since=base)
    two.refresh(_bound_ads("abc", ["old"]))
    whole.refresh(_bound_ads("abc", ["old"]))
    for worker, start in ((one, 100), (two, 200)):
        for t, decision in enumerate(_play_ads(worker, ["old"], 8, start=start)):
            whole.learn(decision, ((start + t) % 3) / 2)

    merged = one.merged(two, since=base)

    _assert_same_ads(merged, whole)


def _assert_same_ads(one: Any, other: Any) -> None:
    assert one.n_learned == other.n_learned
    if one.decide("old", id="x").propensity == 1.0:
        left, right = (p.decide("old", arms=list("abc"), id="x").index for p in (one, other))
        assert left == pytest.approx(right, abs=1e-9)


def _bound_ages(*, bins: bool = True) -> BoundTable:
    made = _bound_ads("ab", ["< 30", "[30, 50)", ">= 50"])
    return replace(made, bins={"Age": (30.0, 50.0)} if bins else {})


@each_policy
def test_a_number_finds_its_bin(name: str) -> None:
    """Linear policies see the number too, and their decisions keep it; others name the bin."""
    policy = _make_with(name, _bound_ages(), watch=True)
    decisions = []
    for t, age in enumerate([41.5, 17, 66, 30] * 5):
        decisions.append(policy.decide({"Age": age}, id=str(t)))
        policy.learn(Decision.from_json(decisions[-1].to_json()), (t % 3) / 2)

    first, linear = decisions[0], name.startswith("Lin")
    assert first.context == ((41.5,) if linear else ("[30, 50)",))
    assert (41.5 in first.features) == linear
    assert {arm.upper for arm in first.reasons.ranked_arms} == {0.8, 0.9}
    assert policy.n_learned == 20
    assert {context for context, _ in policy.monitor.evidence} == {
        ("< 30",),
        ("[30, 50)",),
        (">= 50",),
    }
    twin = type(policy).from_state(json.loads(json.dumps(policy.state())))
    assert twin.decide(41.5, id="x") == policy.decide(41.5, id="x")
    assert policy.decide("[30, 50)", id="x").arm in {("a",), ("b",)}


@pytest.mark.parametrize("name", ["UCB", "KLUCB", "TS"])
def test_numbers_of_one_bin_count_together(name: str) -> None:
    """Also those of decisions that a policy which sees numbers has made."""
    by_number, by_bin = (_make_with(name, _bound_ages()) for _ in range(2))
    linear = _make_with("LinUCB", _bound_ages())
    for t in range(12):
        decision = linear.decide(30 + t, id=str(t))
        by_number.learn(decision, t % 2)
        by_bin.learn(change(decision, context=("[30, 50)",)), t % 2)

    assert by_number.state()["statistics"] == by_bin.state()["statistics"]


@each_policy
def test_an_unseen_level_is_served_without_bounds_if_asked(name: str) -> None:
    policy = _make_with(name, _bound_ads("ab", ["old", "young"]), unseen="range")
    seen = _make_with(name, _bound_ads("ab", ["old", "young"]))
    with pytest.raises(BounditError, match="'Age' has no level 'alien'"):
        seen.decide("alien")

    for t, age in enumerate(["alien", "old", None] * 4):
        decision = Decision.from_json(policy.decide({"Age": age}, id=str(t)).to_json())
        policy.learn(decision, (t % 3) / 2)

    assert policy.n_learned == 12
    assert [
        r.upper for r in policy.monitor.prior.rank(policy.spec.arms, ("alien",), held=True)
    ] == [
        1.0,
        1.0,
    ]
    twin = type(policy).from_state(json.loads(json.dumps(policy.state())))
    assert twin.decide("alien", id="x") == policy.decide("alien", id="x")
    assert policy.fresh().decide("alien").arm in {("a",), ("b",)}
    if name.startswith("Lin"):
        alien, old = (policy.decide(age, arms=["a"]).features for age in ("alien", "old"))
        assert alien == old


@each_policy
def test_arms_that_were_given_change_when_told_alone(name: str) -> None:
    policy = _make_with(name, _bound_ads("abc", ["old"]), arms=["a", "b"])
    _play_ads(policy, ["old"], 6)
    before = policy.state()

    line = r"were given, and the new table has \('d',\) and lacks \('b',\); say which arms"
    with pytest.raises(BounditError, match=line):
        policy.refresh(_bound_ads("acd", ["old"]))
    assert policy.state() == before

    policy.refresh(_bound_ads("abc", ["old"]))
    assert policy.spec.arms == (("a",), ("b",))
    policy.refresh(_bound_ads("acd", ["old"]), arms=["a", "d"])
    assert (policy.spec.arms, policy.spec.retired) == ((("a",), ("d",)), (("b",),))


@each_policy
def test_a_policy_without_arms_takes_those_of_its_first_bounds(name: str) -> None:
    kind, needed = POLICIES_WITH_OPTIONS[name]
    policy = kind(**needed)

    policy.refresh(_bound_ads("ab", ["old"]))

    assert policy.decide({"Age": "old"}).arm in {("a",), ("b",)}


@each_policy
def test_a_wrong_bound_is_refuted_and_all_are_dropped(name: str) -> None:
    """3.7: the policy goes on as its unbounded self, and says what refuted them."""
    lies = _shifted(0.35)
    watched = make(name, prior=lies, watch=True)
    decisions = play(watched, 400)
    plain = make(name)
    for decision in decisions:
        plain.learn(decision, compute_reward(decision))

    refuted = watched.refutation
    assert refuted is not None
    assert lies[refuted.arm, refuted.context] == refuted.bound
    assert "no bound of the same graph and log is believed any more" in str(refuted)
    for context in CONTEXTS:
        assert watched.decide(context, id="x") == plain.decide(context, id="x")
    restored = type(watched).from_state(watched.state())
    assert restored.refutation == refuted
    assert restored.decide((0, 0), id="x") == watched.decide((0, 0), id="x")


@each_policy
def test_unwatched_bounds_stay(name: str) -> None:
    policy = make(name, prior=_shifted(0.35))
    play(policy, fewer_for_oam(name, 200))

    assert policy.refutation is None


def _shifted(by: float) -> BoundTable:
    rows = [
        row | {"lower": 0.0, "upper": max(float(str(row["upper"])) - by, 0.0)}
        for row in table(0.01).rows()
    ]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["X1", "X2"], context=["U1", "U2"], outcome_range=(0, 1)
    )


@pytest.mark.parametrize("name", ORDER_FREE)
def test_threads_may_share_a_policy(name: str) -> None:
    """Every reward counts once, though eight threads hand them in, each of them twice."""
    policy, alone = make(name, prior=table(0.15)), make(name, prior=table(0.15))
    decisions = play(alone, 160)

    def hand_in(part: int) -> None:
        for decision in decisions[part % 4 :: 4]:
            policy.decide(decision.context)
            policy.learn(decision, compute_reward(decision))
            policy.state()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hand_in, range(8)))

    _assert_same_beliefs(policy, alone)
    assert sorted(policy.state()["learned_ids"]) == sorted(d.id for d in decisions)


def _good(policy: Any) -> Decision:
    decision: Decision = policy.decide((0, 0), id="good")
    return decision


BAD_STEPS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a reward that is not a number": (lambda p: p.learn(_good(p), float("nan")),
        "the reward of decision 'good' must be a number from 0 to 1, found nan"),
    "a reward outside its range": (lambda p: p.learn(_good(p), 1.5), "found 1.5; reward_ra"),
    "a reward that is text": (lambda p: p.learn(_good(p), "1"), "found '1'"),
    "no reward": (lambda p: p.learn(_good(p), None), "found None"),
    "something else than a decision": (lambda p: p.learn({}, 1.0), "dict is no decision"),
    "a decision about another arm": (
        lambda p: p.learn(Decision("x", ("A",), (0, 0), (1.0,), {}), 1.0),
        r"\('A',\) is no arm here: an arm has 2 values"),
    "an arm in text": (lambda p: p.decide((0, 0), arms=[("1", 0)]),
        r"did you mean 1 \(int\) for '1' \(str\)\?"),
    "no arm": (lambda p: p.decide((0, 0), arms=[]), "there are no arms to choose from"),
    "arms that are no list": (lambda p: p.decide((0, 0), arms=3), "arms must be a list such"),
    "a context too short": (lambda p: p.decide((0,)), "must have one value each for U1, U2"),
    "a context in text": (lambda p: p.decide(("1", 0)), r"did you mean 1 \(int\)\?"),
    "a context outside the domain": (lambda p: p.decide((7, 0)), "'U1' has no level 7"),
    "a mapping with a gap": (lambda p: p.decide({"U1": 1}), "it has no value for 'U2'"),
    "a context that is no number": (lambda p: p.decide((float("nan"), 0)), "must be finite"),
    "a context that is a list of lists": (lambda p: p.decide(([1], 0)), "list is no level"),
    "an id that is no text": (lambda p: p.decide((0, 0), id=7), "id must be text, found 7"),
    "bounds of other arms": (lambda p: p.refresh(_other_table(treatments=["A"])),
        "the bounds are for other treatments"),
    "bounds of another reward": (lambda p: p.refresh(_other_table(outcome_range=(0, 5))),
        "the bounds are for other rewards"),
    "bounds that are none": (lambda p: p.refresh({}), "prior must be a BoundTable"),
}  # fmt: skip


def _other_table(
    *, treatments: Sequence[str] = ("X1", "X2"), outcome_range: tuple[float, float] = (0, 1)
) -> BoundTable:
    row: dict[str, object] = {
        "X1": 0,
        "X2": 0,
        "A": 0,
        "U1": 0,
        "U2": 0,
        "lower": 0,
        "upper": 1,
    }
    return BoundTable.from_rows(
        [row],
        outcome="Y",
        treatments=treatments,
        context=["U1", "U2"],
        outcome_range=outcome_range,
    )


@each_policy
@pytest.mark.parametrize("case", sorted(BAD_STEPS))
def test_bad_input_gets_one_line_and_changes_nothing(name: str, case: str) -> None:
    policy = make(name, prior=table())
    play(policy, 6)
    before, (step, line) = policy.state(), BAD_STEPS[case]

    with pytest.raises(BounditError, match=line) as caught:
        step(policy)

    assert "\n" not in str(caught.value)
    assert policy.state() == before


@each_policy
def test_a_foreign_or_damaged_state_is_refused(name: str) -> None:
    policy = make(name, prior=table())
    play(policy, 6)
    kind, whole = type(policy), policy.state()
    changed = json.loads(json.dumps(whole))
    changed["learned_ids"][0] = "another"
    damaged: list[Any] = [
        None,
        {},
        changed,
        {**whole, "version": 1},
        {**whole, "policy": "Other"},
        {**whole, "statistics": object()},
        {key: value for key, value in whole.items() if key != "statistics"},
    ]

    for state in damaged:
        with pytest.raises(BounditError, match=f"this is no state of {kind.__name__}: "):
            kind.from_state(state)


@each_policy
def test_bounds_of_other_arms_are_refused_when_made(name: str) -> None:
    with pytest.raises(BounditError, match="the bounds are for other arms"):
        make(name, prior=table(), arms=[(5, 5)])
    with pytest.raises(BounditError, match="the bounds are for other contexts"):
        make(name, prior=table(), context=["U2", "U1"])
    with pytest.raises(BounditError, match="prior must be a BoundTable"):
        make(name, prior=[1])  # type: ignore[arg-type]


def _assert_same_beliefs(one: Any, two: Any) -> None:
    """Same choices and, but for rounding, the same indices."""
    for context in CONTEXTS:
        here, there = one.decide(context, id="x"), two.decide(context, id="x")
        assert here.arm == there.arm
        assert here.index == pytest.approx(there.index, rel=1e-9, abs=1e-9)


@each_policy
@with_and_without_bounds
def test_a_decision_says_what_was_known_when_it_was_made(
    name: str, prior: BoundTable | None
) -> None:
    """Its reasons are worked out when they are read; what was learned since plays no part."""
    one, two = (make(name, prior=prior) for _ in range(2))
    for policy in (one, two):
        play(policy, fewer_for_oam(name, ROUNDS))
    at_once, later = (policy.decide((1, 0), id="x") for policy in (one, two))
    spelled = at_once.record()

    for i in range(20):
        two.learn(two.decide((1, 0)), float(i % 2))

    assert {"features", "index", "capped", "propensity"}.isdisjoint(vars(later))
    assert later.record() == spelled

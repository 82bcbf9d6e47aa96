import copy
import os
import pickle
from threading import Thread

import pytest

from boundit.bandit.decision_ids import DecisionIds
from boundit.bandit.errors import DamagedState
from boundit.bandit.kernels.rng import hash_id, wrap_seed
from boundit.bandit.policies.ts import TS
from boundit.bandit.serialization import seal_state


def test_no_name_is_given_twice_among_threads() -> None:
    policy, found = TS(arms=[0, 1]), list[str]()

    def decide() -> None:
        found.extend([policy.decide().id for _ in range(500)])

    threads = [Thread(target=decide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == 2000


def test_ids_without_a_seed_are_random_and_those_of_a_seed_are_its_own() -> None:
    made = [DecisionIds(seed).make() for seed in (None, None, 0, 1, 0)]

    assert len(set(made)) == 4
    assert made[2] == made[4]


def test_a_copy_and_a_pickle_give_other_names_where_no_seed_was_given() -> None:
    ids = DecisionIds(None)
    kept = ids.key_stream(ids.make())

    twins = [ids, copy.deepcopy(ids), pickle.loads(pickle.dumps(ids)), copy.copy(ids)]

    assert len({twin.make() for twin in twins}) == 4
    # The same id is drawn for alike, so that a retry may go to a copy.
    assert {twin.key_stream("x")[0] for twin in twins} == {kept[0]}


def test_a_copy_of_a_seed_s_ids_counts_on() -> None:
    ids = DecisionIds(3)
    ids.make()

    assert copy.deepcopy(ids).make() == pickle.loads(pickle.dumps(ids)).make() == ids.make()


def test_a_forked_process_gives_other_names_where_no_seed_was_given() -> None:
    ids, seeded = DecisionIds(None), DecisionIds(4)
    ids.make()
    inward, outward = os.pipe()
    if not (child := os.fork()):
        kept = ids.to_record()["prefix"]
        os.write(outward, f"{ids.make()} {kept} {seeded.make()}".encode())
        os._exit(0)
    os.waitpid(child, 0)

    theirs, prefix, same = os.read(inward, 300).decode().split()
    assert theirs != ids.make()
    assert theirs == f"{prefix}0"
    assert same == seeded.make()


@pytest.mark.parametrize("seed", [None, 3, 1 << 80])
def test_what_is_restored_counts_on_with_the_same_draws(seed: int | None) -> None:
    ids, again = DecisionIds(seed), DecisionIds(seed)
    ids.key_stream(ids.make())

    again.restore(ids.to_record())

    assert again.make() == ids.make()
    assert again.key_stream("x") == ids.key_stream("x")


def test_the_key_of_a_stream_is_the_seed_and_the_hash_of_the_id() -> None:
    assert DecisionIds(5).key_stream("x") == (wrap_seed(5), hash_id("x"))


def test_joined_ids_repeat_none_of_either() -> None:
    ids, other = DecisionIds(5), DecisionIds(5)
    for _ in range(3):
        other.make()

    assert ids.join(other).make() == other.make()
    assert ids.join(DecisionIds(6)).make() == ids.make()
    random = DecisionIds(None)
    random.make()
    assert random.join(ids).make()[:-1] not in (random.prefix, ids.prefix)


def test_what_is_random_is_taken_when_it_is_needed() -> None:
    """So that the same events under the caller's ids give the same state."""
    ids = DecisionIds(None)
    empty = ids.to_record()

    assert empty == DecisionIds(None).to_record() == copy.copy(ids).to_record()
    again = DecisionIds(None)
    again.restore(empty)
    assert again.make() != ids.make()


@pytest.mark.parametrize("wrong", [{"prefix": 3}, {"count": "3"}, {"key": "x"}])
def test_ids_of_a_damaged_state_are_refused(wrong: dict[str, object]) -> None:
    state = TS(arms=[0], seed=0).state()
    head = ("format", "version", "policy", "checksum")
    body = {name: part for name, part in state.items() if name not in head}
    changed = seal_state("TS", {**body, "ids": {**state["ids"], **wrong}})

    with pytest.raises(DamagedState):
        TS.from_state(changed)

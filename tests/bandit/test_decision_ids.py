import copy
import os
import pickle
from threading import Thread

from boundit.bandit.decision_ids import DecisionIds


def test_no_name_is_given_twice_among_threads() -> None:
    ids, found = DecisionIds(), list[str]()

    def take() -> None:
        found.extend([ids.make() for _ in range(2000)])

    threads = [Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == 8000


def test_a_copy_and_a_pickle_give_other_names() -> None:
    ids = DecisionIds()
    ids.make()

    twins = [ids, copy.deepcopy(ids), pickle.loads(pickle.dumps(ids)), copy.copy(ids)]

    assert len({twin.make() for twin in twins}) == 4


def test_a_forked_process_gives_other_names() -> None:
    ids = DecisionIds()
    ids.make()
    inward, outward = os.pipe()
    if not (child := os.fork()):
        os.write(outward, ids.make().encode())
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(inward, 100).decode() != ids.make()

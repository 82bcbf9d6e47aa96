"""What is asked of a simulation: any whole number is read, and what is none is one line."""

from collections.abc import Callable

import numpy as np
import pytest

from boundit.bandit.errors import BadOption
from boundit.bandit.policies.ucb import UCB
from boundit.simulation.options import (
    LONGEST,
    read_seed,
    read_size,
    read_workers,
    require_policies,
    require_world,
)
from boundit.simulation.worlds import paper_world

NO_NUMBERS = (1.5, 2.0, "3", None, True, [1, 2], np.ones(30), np.float64(2), {"seed": 1})


@pytest.mark.parametrize("given", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_any_whole_number_is_read_as_a_plain_one(given: object) -> None:
    for found in (read_seed(given), read_size("rounds", given), read_workers(given)):
        assert (type(found), found) == (int, 3)


def test_a_seed_may_be_long_and_counts_may_be_too_few() -> None:
    """Whether there is nothing to simulate is said of rounds, runs and policies at once."""
    assert read_seed(2**80) == 2**80
    assert (read_size("runs", 0), read_size("runs", LONGEST)) == (0, LONGEST)
    require_policies({})


@pytest.mark.parametrize("given", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("seed", read_seed),
        ("rounds", lambda it: read_size("rounds", it)),
        ("workers", read_workers),
    ],
)
def test_what_is_no_whole_number_is_refused_in_one_line(
    name: str, read: Callable[[object], int], given: object
) -> None:
    with pytest.raises(BadOption, match=rf"^{name} must be a whole number.*, found .+$") as no:
        read(given)
    assert "\n" not in str(no.value)


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(BadOption, match="seed must be a whole number, 0 or more, found -1"):
        read_seed(-1)
    with pytest.raises(BadOption, match="workers must be a whole number, 1 or more, found 0"):
        read_workers(0)
    with pytest.raises(BadOption, match="rounds must be a whole number, at most 2147483647"):
        read_size("rounds", 10**30)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([UCB()], r"policies must be a dict .*, as in {'UCB': UCB\(\)}, found <class 'list'>"),
        (UCB(), "policies must be a dict of policies by name"),
        ("UCB", "policies must be a dict of policies by name, .* found 'UCB'"),
        ({1: UCB()}, "the name of a policy must be printable text, .* found 1"),
        ({"a\nb": UCB()}, "the name of a policy must be printable text"),
        ({"\ud800": UCB()}, "the name of a policy must be printable text"),
        ({"a": 3}, r"policies\['a'\] must be a policy, as in {'UCB': UCB\(\)}, found 3"),
        ({"a": UCB}, r"policies\['a'\] must be a policy, .* found <class '.*UCB'>"),
        ({"a": UCB(), "b": np.eye(9)}, r"policies\['b'\] must be a policy"),
    ],
    ids=repr,
)
def test_what_holds_no_policies_is_refused_in_one_line(given: object, says: str) -> None:
    with pytest.raises(BadOption, match=says) as no:
        require_policies(given)
    assert "\n" not in str(no.value)


@pytest.mark.parametrize("given", [3, None, "paper", paper_world().model, paper_world])
def test_what_is_no_world_is_refused(given: object) -> None:
    require_world(paper_world())
    with pytest.raises(BadOption, match=r"world must be a World, such as paper_world\(\)"):
        require_world(given)

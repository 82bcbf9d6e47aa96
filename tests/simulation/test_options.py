"""What is asked of a simulation: any whole number is read, and what is none is one line."""

from typing import Any

import numpy as np
import pytest

from boundit.bandit.errors import BadOption
from boundit.bandit.policies.ucb import UCB
from boundit.simulation.errors import NothingToSimulate
from boundit.simulation.feedback.feedback import Feedback
from boundit.simulation.options import LONGEST, SimulationOptions, make_policy, read_seed
from boundit.simulation.worlds import paper_world

NO_NUMBERS = (1.5, 2.0, "3", True, [1, 2], np.ones(30), np.float64(2), {"seed": 1})


def read(**options: object) -> SimulationOptions:
    """Read options of which some are given."""
    plain: dict[str, Any] = {
        "world": paper_world(),
        "policies": {"UCB": UCB()},
        "rounds": 1,
        "runs": 1,
        "seed": 0,
        "workers": 1,
        "observed": False,
        "feedback": None,
    }
    return SimulationOptions.read(**plain | options)


@pytest.mark.parametrize("given", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_any_whole_number_is_read_as_a_plain_one(given: object) -> None:
    asked = read(rounds=given, runs=given, seed=given, workers=given)

    for found in (asked.rounds, asked.runs, asked.seed, asked.workers, read_seed(given)):
        assert (type(found), found) == (int, 3)


def test_a_seed_may_be_long_and_there_is_a_worker_at_least() -> None:
    assert read(seed=2**80).seed == 2**80
    assert read(runs=LONGEST).runs == LONGEST
    assert read(workers=None).workers >= 1


@pytest.mark.parametrize("none", [{"rounds": 0}, {"runs": -1}, {"policies": {}}])
def test_nothing_to_simulate_is_said_of_rounds_runs_and_policies_at_once(
    none: dict[str, object],
) -> None:
    with pytest.raises(NothingToSimulate, match="at least one round, run and policy"):
        read(**none)


@pytest.mark.parametrize("given", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", ["seed", "rounds", "runs", "workers"])
def test_what_is_no_whole_number_is_refused_in_one_line(name: str, given: object) -> None:
    with pytest.raises(BadOption, match=rf"^{name} must be a whole number.*, found .+$") as no:
        read(**{name: given})
    assert "\n" not in str(no.value)
    assert no.value.option == name


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(BadOption, match="seed must be a whole number, 0 or more, found -1"):
        read(seed=-1)
    with pytest.raises(BadOption, match="seed must be a whole number, 0 or more, found None"):
        read(seed=None)
    with pytest.raises(BadOption, match="workers must be a whole number, 1 or more, found 0"):
        read(workers=0)
    with pytest.raises(BadOption, match="rounds must be a whole number, at most 2147483647"):
        read(rounds=10**30)


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
        read(policies=given)
    assert "\n" not in str(no.value)
    assert no.value.option == "policies"


@pytest.mark.parametrize("given", [3, None, "paper", paper_world().model, paper_world])
def test_what_is_no_world_is_refused(given: object) -> None:
    with pytest.raises(BadOption, match=r"world must be a World, such as paper_world\(\)"):
        read(world=given)


@pytest.mark.parametrize("given", [-0.1, 1.1, float("nan"), "half", None, [0.5]], ids=repr)
def test_a_share_of_rounds_lies_between_none_and_all(given: object) -> None:
    with pytest.raises(BadOption, match=r"^observed must be True, False, or a share") as no:
        read(observed=given)
    assert "\n" not in str(no.value)
    assert [read(observed=share).observed for share in (True, False, 0.5, 1)] == [1, 0, 0.5, 1]


@pytest.mark.parametrize("given", [50, "late", {"delay": 3}, Feedback], ids=repr)
def test_feedback_is_a_value_of_its_own(given: object) -> None:
    with pytest.raises(BadOption, match=r"^feedback must be None or Feedback\(\.\.\.\)") as no:
        read(feedback=given)
    assert "\n" not in str(no.value)
    assert read(feedback=Feedback(delay=3)).feedback == Feedback(delay=3)


def test_a_policy_is_given_or_made_for_each_run() -> None:
    policy, made = UCB(), {run: UCB() for run in range(3)}
    asked = read(policies={"one": policy, "many": made.__getitem__})

    assert make_policy("one", asked.policies["one"], 2) is policy
    assert make_policy("many", asked.policies["many"], 2) is made[2]
    with pytest.raises(BadOption, match=r"^policies\['it'\]\(4\) must be a policy.*found 5$"):
        make_policy("it", lambda run: run + 1, 4)  # type: ignore[arg-type, return-value]


def test_what_a_function_raises_says_for_which_run() -> None:
    def fail(run: int) -> UCB:
        raise ValueError(f"no log {run}")

    with pytest.raises(ValueError, match="no log 7") as caught:
        make_policy("mine", fail, 7)
    assert caught.value.__notes__ == ["raised by policies['mine'](7)"]

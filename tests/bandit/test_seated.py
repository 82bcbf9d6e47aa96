"""The calls that all policies share go through one door."""

import pytest

from boundit.bandit.kl_ucb import KLUCB
from boundit.bandit.lin_ts import LinTS
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.oam import OAM
from boundit.bandit.seated import Seated
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB

POLICIES = (KLUCB, LinTS, LinUCB, OAM, TS, UCB)
SHARED = ("decide", "learn", "refresh", "observes", "refutation")


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_has_a_door_of_its_own(policy: type) -> None:
    assert issubclass(policy, Seated)
    assert not set(SHARED) & vars(policy).keys()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_says_its_name_and_what_it_learned(policy: type[UCB]) -> None:
    made = policy(arms=["A", "B"]).fresh(horizon=10)
    made.learn(made.decide(), 1.0)

    assert repr(made).startswith(f"{policy.__name__}(2 arms, 1 reward learned")


def test_an_algorithm_without_its_two_steps_cannot_be_made() -> None:
    class Half(Seated):  # type: ignore[type-arg]
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]

"""What a simulation is asked for: read at the door, refused in one line."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Self, TypeAlias

from boundit.bandit.errors import BadOption
from boundit.bandit.policy import Policy
from boundit.simulation.errors import NothingToSimulate
from boundit.simulation.feedback.feedback import Feedback
from boundit.simulation.world import World

PolicySource: TypeAlias = Policy | Callable[[int], Policy]
"""What plays: a policy, or a function that makes one for a run from the run's number."""
LONGEST = 2**31 - 1
"""More rounds or runs than anyone can wait for."""


@dataclass(frozen=True, slots=True, eq=False)
class SimulationOptions:
    """The options of ``simulate``, each of its kind and in its range."""

    world: World
    policies: Mapping[str, PolicySource]
    rounds: int
    runs: int
    seed: int
    workers: int
    observed: bool | float
    feedback: Feedback | None

    @classmethod
    def read(
        cls,
        world: World,
        policies: Mapping[str, PolicySource],
        *,
        rounds: object,
        runs: object,
        seed: object,
        workers: object,
        observed: object,
        feedback: object,
    ) -> Self:
        """Check the arguments of ``simulate``, or refuse what makes no simulation.

        Where ``workers`` is None there is one for each processor.
        """
        _require_world(world)
        _require_policies(policies)
        length, times, number = (
            _read_size("rounds", rounds),
            _read_size("runs", runs),
            read_seed(seed),
        )
        if length < 1 or times < 1 or not policies:
            raise NothingToSimulate(rounds=length, runs=times, policies=len(policies))
        hands = os.cpu_count() or 1 if workers is None else workers
        threads = read_whole("workers", hands, least=1)
        share = _read_share(observed)
        if feedback is not None and not isinstance(feedback, Feedback):
            expected = "None or Feedback(...), such as Feedback(delay=50)"
            raise BadOption("feedback", expected, _describe_value(feedback))
        return cls(world, policies, length, times, number, threads, share, feedback)


def make_policy(name: str, source: PolicySource, run: int) -> Policy:
    """Give the policy that plays a run: the one given, or one that is made for this run.

    What a user's function raises says for which run.
    """
    if isinstance(source, Policy) or not callable(source):
        return source
    try:
        made = source(run)
    except Exception as error:
        error.add_note(f"raised by policies[{name!r}]({run})")
        raise
    _require_policy(f"policies[{name!r}]({run})", made)
    return made


def read_seed(value: object) -> int:
    """Read a seed, a whole number; None is refused, since nobody could draw the same again.

    >>> import numpy as np
    >>> read_seed(np.int64(3))
    3
    """
    return read_whole("seed", value, least=0)


def _read_share(value: object) -> bool | float:
    """Read in which share of rounds policies are told what else shows: all, none, or some."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        expected = "True, False, or a share of the rounds from 0 to 1"
        raise BadOption("observed", expected, _describe_value(value))
    return float(value)


def _read_size(name: str, value: object) -> int:
    """Read the number of rounds or runs, a whole number; 0 is refused later."""
    number = read_whole(name, value, least=None)
    if number > LONGEST:
        raise BadOption(name, f"a whole number, at most {LONGEST}", value)
    return number


def _require_world(world: object) -> None:
    """Refuse to simulate in what is no ``World``."""
    if not isinstance(world, World):
        expected = "a World, such as paper_world() or World(model, query)"
        raise BadOption("world", expected, _describe_value(world))


def _require_policies(policies: object) -> None:
    """Refuse to simulate what is no mapping of names to policies."""
    if not isinstance(policies, Mapping):
        expected = "a dict of policies by name, as in {'UCB': UCB()}"
        raise BadOption("policies", expected, _describe_value(policies))
    for name, policy in policies.items():
        if not (isinstance(name, str) and name.isprintable()):
            expected, found = "printable text, as in {'UCB': UCB()}", _describe_value(name)
            raise BadOption("the name of a policy", expected, found, option="policies")
        if isinstance(policy, type) or not callable(policy):
            _require_policy(f"policies[{name!r}]", policy)


def _require_policy(name: str, policy: object) -> None:
    """Refuse what is no policy under the name of one."""
    # A class has all that its objects have.
    if isinstance(policy, type) or not isinstance(policy, Policy):
        expected, found = "a policy, as in {'UCB': UCB()}", _describe_value(policy)
        raise BadOption(name, expected, found, option="policies")


def read_whole(name: str, value: object, *, least: int | None) -> int:
    """Read a whole number of Python's or NumPy's types; True and False are none."""
    expected = "a whole number" if least is None else f"a whole number, {least} or more"
    if isinstance(value, bool):
        raise BadOption(name, expected, value)
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise BadOption(name, expected, _describe_value(value)) from None
    if least is not None and number < least:
        raise BadOption(name, expected, value)
    return number


def _describe_value(found: object) -> object:
    """Write a refused value for an error message: a plain one as it is, else its type."""
    plain = found is None or isinstance(found, int | float | str | type)
    return found if plain else type(found)

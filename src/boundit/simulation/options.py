"""What a simulation is asked for: read at the door, refused in one line."""

from collections.abc import Mapping
from operator import index

from boundit.bandit.errors import BadOption
from boundit.bandit.policy import Policy
from boundit.simulation.world import World

LONGEST = 2**31 - 1
"""More rounds or runs than anyone can wait for."""


def read_seed(value: object) -> int:
    """Read a seed; None is none, since what it draws could not be drawn again.

    >>> import numpy as np
    >>> read_seed(np.int64(3))
    3
    """
    return _read_whole("seed", value, least=0)


def read_size(name: str, value: object) -> int:
    """Read how many rounds or runs there are; whether that is enough is not asked here."""
    number = _read_whole(name, value, least=None)
    if number > LONGEST:
        raise BadOption(name, f"a whole number, at most {LONGEST}", value)
    return number


def read_workers(value: object) -> int:
    """Read a number of workers."""
    return _read_whole("workers", value, least=1)


def require_world(world: object) -> None:
    """Refuse what is no world."""
    if not isinstance(world, World):
        expected = "a World, such as paper_world() or World(model, query)"
        raise BadOption("world", expected, _describe_value(world))


def require_policies(policies: object) -> None:
    """Refuse what is no mapping from names to policies."""
    if not isinstance(policies, Mapping):
        expected = "a dict of policies by name, as in {'UCB': UCB()}"
        raise BadOption("policies", expected, _describe_value(policies))
    for name, policy in policies.items():
        if not (isinstance(name, str) and name.isprintable()):
            expected = "printable text, as in {'UCB': UCB()}"
            found = _describe_value(name)
            raise BadOption("the name of a policy", expected, found, option="policies")
        # A class has all that its objects have.
        if isinstance(policy, type) or not isinstance(policy, Policy):
            expected = "a policy, as in {'UCB': UCB()}"
            found = _describe_value(policy)
            raise BadOption(f"policies[{name!r}]", expected, found, option="policies")


def _read_whole(name: str, value: object, *, least: int | None) -> int:
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
    """What fits into one line: a plain value, or the kind of anything else."""
    plain = found is None or isinstance(found, int | float | str | type)
    return found if plain else type(found)

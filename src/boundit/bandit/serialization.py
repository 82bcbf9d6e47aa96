"""A policy's state: a versioned JSON object that shows when somebody changed it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from boundit.bandit.errors import DamagedState
from boundit.bandit.level_codec import Record
from boundit.terms.bound_file import compute_checksum
from boundit.terms.errors import BounditError

State: TypeAlias = Record
"""What ``state()`` gives and ``from_state`` takes; JSON keeps it as it is."""

FORMAT, VERSION = "boundit policy", 1
_HEAD = ("format", "version", "policy", "checksum")


def sealed(policy: str, body: Record) -> State:
    """Write the head over what a policy holds."""
    head = {"format": FORMAT, "version": VERSION, "policy": policy}
    return {**head, "checksum": compute_checksum({"policy": policy, **body}), **body}


@contextmanager
def opened(policy: str, state: Mapping[str, object]) -> Iterator[Record]:
    """Check the head and give the rest; whatever goes wrong inside is a damaged state."""
    if not isinstance(state, Mapping) or state.get("format") != FORMAT:
        raise DamagedState(policy, "it does not say so; give what state() returned")
    if state.get("version") != VERSION:
        found = state.get("version")
        raise DamagedState(
            policy, f"it has version {found!r}, and this release reads {VERSION}"
        )
    if state.get("policy") != policy:
        raise DamagedState(policy, f"it is one of {state.get('policy')}")
    body = {name: value for name, value in state.items() if name not in _HEAD}
    try:
        whole = state.get("checksum") == compute_checksum({"policy": policy, **body})
    except (TypeError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise DamagedState(policy, "it was changed after it was made")
    try:
        yield body
    except DamagedState:
        raise
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        BounditError,
    ) as error:
        raise DamagedState(policy, f"{type(error).__name__}: {error}") from None

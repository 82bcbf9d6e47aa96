"""What a policy keeps as JSON: arms, contexts, and a state that shows when it was changed."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from boundit.bandit.errors import DamagedState
from boundit.terms.bound import Arm
from boundit.terms.errors import BounditError
from boundit.terms.saving.bound_file import compute_checksum
from boundit.terms.saving.codec import decode, encode

Record: TypeAlias = dict[str, Any]
"""What JSON calls an object: text to anything JSON has."""
State: TypeAlias = Record
"""What ``state()`` gives and ``from_state`` takes; JSON keeps it as it is."""

FORMAT, VERSION = "boundit policy", 4
_HEAD = ("format", "version", "policy", "checksum")
_UNREADABLE = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    BounditError,
)
"""What reading a record that does not fit can raise."""


def encode_values(values: Iterable[object]) -> list[object]:
    """Write the values of an arm or a context so that JSON keeps their types.

    >>> encode_values(("A", 1, True))
    ['A', 1, True]
    """
    found: list[object] = encode(tuple(values), Arm)
    return found


def decode_values(record: Iterable[object]) -> tuple[object, ...]:
    """Read an arm or a context that ``encode_values`` wrote."""
    found: tuple[object, ...] = decode(Arm, record)
    return found


def seal_state(policy: str, body: Record) -> State:
    """Wrap what a policy writes of itself with its name, a format version and a checksum.

    Gives the object that users keep as JSON.
    """
    head = {"format": FORMAT, "version": VERSION, "policy": policy}
    return {**head, "checksum": compute_checksum({"policy": policy, **body}), **body}


@contextmanager
def open_state(policy: str, state: Mapping[str, object]) -> Iterator[Record]:
    """Check name, version and checksum of a policy's state, and give what it wrote.

    A context manager: whatever goes wrong inside is raised as ``DamagedState``.
    """
    body = _check_head(policy, state)
    try:
        yield body
    except DamagedState:
        raise
    except KeyError as error:
        reason = f"it has no {error}; was it written by another release?"
        raise DamagedState(policy, reason) from None
    except _UNREADABLE as error:
        raise DamagedState(policy, f"{type(error).__name__}: {error}") from None


def _check_head(policy: str, state: Mapping[str, object]) -> Record:
    """Refuse a state with another format, kind of policy, version or checksum.

    Gives what the policy wrote of itself.
    """
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
    return body

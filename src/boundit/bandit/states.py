"""Saved states: JSON with a format, a version and a checksum; and how states of release 0.2.0 (version 3) are read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from boundit.terms.bound import Arm, Context
from boundit.terms.errors import BounditError
from boundit.terms.saving.bound_file import compute_checksum
from boundit.terms.saving.codec import decode, encode

from boundit.bandit.errors import DamagedState
from boundit.bandit.prior import Prior
from boundit.bandit.spec import Spec

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy

FORMAT, VERSION = "boundit policy", 4
_HEAD = ("format", "version", "policy", "checksum")
_DROPPED = ("propensities", "kappa", "linear", "living", "warm_start")
"""Options of 0.2.0 that no policy has any more (propensities are always exact); `kappa` became `spread`."""


class Body(NamedTuple):
    options: dict[str, Any]
    spec: Spec
    prior: Prior
    contexts: list[Context]
    arms: list[Arm]
    arrays: Mapping[str, Any]
    evidence: Any


def seal_state(policy: "Policy") -> dict[str, Any]:
    options = {name: value for name, value in policy.list_options().items() if name != "features"}
    n, a = policy.n_rows, len(policy._arms)
    size = {"c": slice(1, n), "a": slice(0, a)}
    arrays = {
        name: write_array(getattr(policy.arrays, name)[tuple(size[axis] for axis in axes)]) for name, axes in policy.axes.items()
    }
    evidence = policy.prior.evidence[1:n, :a].tolist() if policy.prior.watch else None
    body = {
        "options": options,
        "spec": {part.name: encode(getattr(policy.spec, part.name), part.type) for part in _list_fields()},
        "prior": policy.prior.record(),
        "ids": policy.ids.record(),
        **policy.learned.record(),
        "contexts": [encode(one, Context) for one in policy._contexts],
        "arms": [encode(one, Arm) for one in policy._arms],
        "arrays": arrays,
        "evidence": evidence,
    }
    head = {"format": FORMAT, "version": VERSION, "policy": type(policy).__name__}
    return {**head, "checksum": compute_checksum({"policy": head["policy"], **body}), **body}


def write_array(part: Any) -> Any:
    """Nested lists, or where most numbers are 0 the places and values of the others."""
    at = np.flatnonzero(part)
    if 2 * at.size >= part.size:
        return part.tolist()
    return {"shape": list(part.shape), "at": at.tolist(), "values": part.reshape(-1)[at].tolist()}


def read_array(record: Any) -> Any:
    if not isinstance(record, Mapping):
        return np.array(record, np.float64)
    found = np.zeros(record["shape"])
    found.reshape(-1)[record["at"]] = record["values"]
    return found


def _list_fields() -> list[Any]:
    return [part for part in fields(Spec) if part.init]


@contextmanager
def open_state(policy: str, state: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Check name, version and checksum; whatever goes wrong while reading is a DamagedState."""
    if not isinstance(state, Mapping) or state.get("format") != FORMAT:
        raise DamagedState(policy, "it has no format; give what state() returned")
    if state.get("version") not in (3, VERSION) or state.get("policy") != policy:
        raise DamagedState(policy, f"it is version {state.get('version')} of {state.get('policy')}")
    body = {name: value for name, value in state.items() if name not in _HEAD}
    if state.get("checksum") != compute_checksum({"policy": policy, **body}):
        raise DamagedState(policy, "it was changed after it was made")
    try:
        yield body
    except DamagedState:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, BounditError) as error:
        raise DamagedState(policy, f"{type(error).__name__}: {error}") from error


def read_body(body: dict[str, Any]) -> Body:
    """Read a state of this release, or of 0.2.0, whose parts are rearranged into arrays."""
    if "monitor" in body:
        return _read_old(body)
    spec = Spec(**{part.name: decode(part.type, body["spec"][part.name]) for part in _list_fields()})
    contexts, arms = ([decode(kind, one) for one in body[name]] for name, kind in (("contexts", Context), ("arms", Arm)))
    arrays = {name: read_array(record) for name, record in body["arrays"].items()}
    return Body(body["options"], spec, Prior.restore(body["prior"]), contexts, arms, arrays, body["evidence"])


def _read_old(body: dict[str, Any]) -> Body:
    old = body["monitor"]
    options = {name: value for name, value in body["options"].items() if name not in _DROPPED and name != "features"}
    spec = Spec(**{part.name: decode(part.type, body["spec"][part.name]) for part in _list_fields()})
    prior = Prior.restore({"table": old["prior"], "watch": old["watch"], "refutation": old["refutation"]})
    record = body["statistics"]
    if record and record[0][0] == "extra_pairs":  # Fused: counts have the arrays of today
        arrays = dict(record)["counts"] | {"extra_pairs": dict(record)["extra_pairs"]}
        return Body(options, spec, prior, [], list(spec.arms), arrays, None)
    if record and len(record[0]) == 5:  # ridge: arm or None, A, b, inverse, theta
        return Body(options, spec, prior, [], list(spec.arms), {"ridge": record}, None)
    contexts, arms, counts = _tabulate(record, spec)
    _, _, seen = _tabulate(old["evidence"], spec, contexts, arms)
    return Body(options, spec, prior, contexts, arms, {"counts": counts, "rounds": counts[:, :, 0].sum(axis=1)}, seen)


def _tabulate(record: list[Any], spec: Spec, contexts: Any = (), arms: Any = ()) -> tuple[list[Context], list[Arm], Any]:
    """Turn rows (context, arm, n, total) into an array, contexts x arms x 2."""
    rows = [(decode(Context, c), decode(Arm, a), n, total) for c, a, n, total in record]
    contexts = list(dict.fromkeys((*contexts, *(row[0] for row in rows))))
    arms = list(dict.fromkeys((*arms, *spec.arms, *(row[1] for row in rows))))
    found = np.zeros((len(contexts), len(arms), 2))
    for c, a, n, total in rows:
        found[contexts.index(c), arms.index(a)] = n, total
    return contexts, arms, found

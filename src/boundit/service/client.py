"""A small client of the service, in the standard library: it retries with the same id."""

import json
import random
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from types import TracebackType
from typing import Any, Self, TypeAlias
from urllib.parse import quote, urlsplit
from uuid import uuid4

from boundit.core.public_names import mark_renamed
from boundit.results.bound_file import seal_record
from boundit.results.bound_table import BoundTable
from boundit.service.errors import ServiceError, Unavailable

Arm: TypeAlias = object
Answer: TypeAlias = dict[str, Any]
_AGAIN = frozenset([408, 429, 502, 503, 504])
"""Refusals after which the same request may be sent again."""


def _refuse(status: int, detail: Mapping[str, Any]) -> ServiceError:
    """Make the error of an answer that is not a success."""
    row = detail.get("row")
    place = f" (row {row})" if row is not None else ""
    error = ServiceError(
        f"{detail.get('message', 'no reason was given')}{place}",
        code=str(detail.get("code", "")),
        field=detail.get("field"),
        row=row,
    )
    error.status = status
    return error


def _give_up(url: str, tries: int, reason: str) -> Unavailable:
    """Make the error of a service that gives no answer; whether it was done is not known."""
    return Unavailable(f"{url} gave no answer in {tries} tries ({reason})", code="no_answer")


@dataclass(frozen=True)
class ServedDecision:
    """An arm to play, as the service stored it.

    ``arm`` and ``context`` are by the names of their variables. ``propensities`` pairs every
    arm with its probability, ``duplicate`` says that the decision had been made before.
    """

    id: str
    arm: Any
    context: Any
    propensity: float | None
    propensities: tuple[tuple[Any, float], ...]
    position: int
    bounds_version: int
    duplicate: bool

    @classmethod
    def from_answer(cls, answer: Answer) -> Self:
        """Read a decision of the service's answer."""
        propensities = tuple((one["arm"], one["propensity"]) for one in answer["propensities"])
        return cls(
            answer["id"],
            answer["arm"],
            answer["context"],
            answer["propensity"],
            propensities,
            answer["position"],
            answer["bounds_version"],
            answer["duplicate"],
        )


class Client:
    """Ask a running service for decisions, and tell it rewards.

    Every decision and reward carries an id, so that one which got lost is sent again and counts
    once; bounds that are sent again are one more version. A client keeps one connection and
    belongs to one thread; it may be used in a ``with``.

    Parameters
    ----------
    url
        Where the service is, such as ``"http://127.0.0.1:8000"``.
    key
        A key with the roles that are needed; None where the service asks for none.
    tries
        How often a request is sent, with pauses that grow, before it fails.
    timeout
        How many seconds one try may take.
    """

    def __init__(
        self, url: str, *, key: str | None = None, tries: int = 5, timeout: float = 10.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            reason = f"{url!r} is not an address such as http://127.0.0.1:8000"
            raise ServiceError(reason, code="no_address")
        self.url, self._tries, self._timeout = url.rstrip("/"), tries, timeout
        self._base, self._parts = parts.path.rstrip("/"), parts
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connection: HTTPConnection | None = None
        self._sleep: Callable[[float], None] = time.sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def decide(
        self,
        policy: str,
        context: object = None,
        *,
        id: str | None = None,  # noqa: A002, the word users know
        arms: Sequence[Arm] | None = None,
        played: Arm | None = None,
        propensity: float | None = None,
    ) -> ServedDecision:
        """Ask for a decision; a retry under the same id gets the same one.

        ``played`` tells the arm that the caller played by a rule of its own.
        """
        row = _make_visitor(context, id, arms, played, propensity)
        return ServedDecision.from_answer(self._post(f"{_name(policy)}/decide", row))

    def decide_many(
        self,
        policy: str,
        contexts: Iterable[object],
        *,
        ids: Iterable[str] | None = None,
        arms: Sequence[Arm] | None = None,
    ) -> list[ServedDecision]:
        """Ask for several decisions at one moment, all or none."""
        listed = list(contexts)
        names = [None] * len(listed) if ids is None else list(ids)
        rows = [
            _make_visitor(context, id_, arms, None, None)
            for context, id_ in zip(listed, names, strict=True)
        ]
        answer = self._post(f"{_name(policy)}/decide/batch", {"decisions": rows})
        return [ServedDecision.from_answer(one) for one in answer["decisions"]]

    def learn(
        self,
        policy: str,
        decision: ServedDecision | str,
        reward: float | None = None,
        *,
        observed: Mapping[str, object] | None = None,
        reward_id: str = "",
        played: Arm | None = None,
    ) -> str:
        """Tell what a decision earned, or what else was seen; gives what became of it.

        ``pending`` until the window closes, ``learned``, ``late`` or ``duplicate``.
        """
        row = _make_reward(decision, reward, observed, reward_id, played)
        return str(self._post(f"{_name(policy)}/reward", row)["status"])

    def learn_many(
        self,
        policy: str,
        decisions: Iterable[ServedDecision | str],
        rewards: Iterable[float],
        *,
        observed: Iterable[Mapping[str, object] | None] | None = None,
    ) -> list[str]:
        """Tell what several decisions earned, all or none."""
        listed, numbers = list(decisions), list(rewards)
        seen = [None] * len(listed) if observed is None else list(observed)
        rows = [
            _make_reward(decision, reward, shown, "", None)
            for decision, reward, shown in zip(listed, numbers, seen, strict=True)
        ]
        answer = self._post(f"{_name(policy)}/reward/batch", {"rewards": rows})
        return [str(one["status"]) for one in answer["rewards"]]

    def policies(self) -> list[Answer]:
        """List all policies as they are now."""
        found: list[Answer] = self._send("GET", "/v1/policies", None)["policies"]
        return found

    def policy(self, policy: str) -> Answer:
        """Show one policy as it is now."""
        return self._send("GET", f"/v1/policies/{_name(policy)}", None)

    def decision(self, policy: str, id: str) -> Answer:  # noqa: A002, the word users know
        """Get a decision with all that came of it."""
        path = f"/v1/policies/{_name(policy)}/decisions/{quote(id, safe='')}"
        return self._send("GET", path, None)

    def propensities(self, policy: str) -> Answer:
        """Get the propensity of every arm in every context."""
        return self._send("GET", f"/v1/policies/{_name(policy)}/propensities", None)

    def create(
        self, name: str, *, bounds: BoundTable | None = None, **config: object
    ) -> Answer:
        """Create a policy: ``kind``, ``options``, ``window`` and so on.

        The same configuration again changes nothing.
        """
        known = {} if bounds is None else {"bounds": seal_record(bounds.record())}
        return self._send("POST", "/v1/policies", {"name": name, **known, **config})

    def refresh(
        self, policy: str, bounds: BoundTable, *, arms: Sequence[Arm] | None = None
    ) -> Answer:
        """Replace the bounds of a policy, for all replicas at once."""
        held = {} if arms is None else {"arms": list(arms)}
        body = {"bounds": seal_record(bounds.record()), **held}
        return self._send("PUT", f"/v1/policies/{_name(policy)}/bounds", body)

    def export(
        self,
        policy: str,
        format: str = "csv",  # noqa: A002, users' word
        *,
        after: int = 0,
    ) -> bytes:
        """Get the decisions that were closed after a position as a log.

        As ``csv``, ``jsonl`` or ``parquet``, which ``read_log`` takes; as ``dsjson``, ``obp``.
        """
        path = (
            f"/v1/policies/{_name(policy)}/export?format={quote(format, safe='')}&after={after}"
        )
        return self._fetch("GET", path, None)

    def _post(self, path: str, body: object) -> Answer:
        """Send a body to a path of a policy."""
        return self._send("POST", f"/v1/policies/{path}", body)

    def _send(self, method: str, path: str, body: object) -> Answer:
        """Send a request and read its answer as JSON."""
        text = self._fetch(method, path, body)
        try:
            answer: Answer = json.loads(text)
        except ValueError:
            raise _refuse(200, {"message": "an answer that is not JSON"}) from None
        return answer

    def _fetch(self, method: str, path: str, body: object) -> bytes:
        """Send a request until an answer comes.

        It is the same request each time, so that what was done already is not done twice.
        """
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        reason = "nothing was tried"
        for tried in range(self._tries):
            if tried:
                self._sleep(_choose_pause(tried))
            try:
                status, text, wait = self._try_once(method, path, content)
            except (OSError, HTTPException) as error:
                self.close()
                reason = f"{type(error).__name__}: {error}"
                continue
            if status < 400:
                return text
            detail = _read_error(status, text)
            if status not in _AGAIN:
                raise _refuse(status, detail)
            reason = str(detail.get("message", status))
            if wait:
                self._sleep(min(wait, self._timeout))
        raise _give_up(self.url, self._tries, reason)

    def _try_once(
        self, method: str, path: str, content: bytes | None
    ) -> tuple[int, bytes, float]:
        """Send a request once; gives status, answer and how long to wait if it was refused."""
        connection = self._connect()
        connection.request(method, f"{self._base}{path}", content, self._headers)
        response = connection.getresponse()
        text = response.read()
        wait = response.headers.get("Retry-After", "")
        return response.status, text, float(wait) if wait.isdigit() else 0.0

    def _connect(self) -> HTTPConnection:
        """Give the connection, a new one if there is none."""
        if self._connection is None:
            kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
            made = kind(str(self._parts.hostname), self._parts.port, timeout=self._timeout)
            made.connect()
            # Small requests must not wait for each other's acknowledgement.
            made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connection = made
        return self._connection


def _name(policy: str) -> str:
    """Write a policy's name for a path."""
    return quote(policy, safe="")


def _read_error(status: int, text: bytes) -> Mapping[str, Any]:
    """Read what a refusal says, also one that a proxy wrote."""
    try:
        found: Mapping[str, Any] = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return {"message": f"an answer that is not JSON, status {status}"}
    return found


def _make_visitor(
    context: object,
    id_: str | None,
    arms: Sequence[Arm] | None,
    played: Arm | None,
    propensity: float | None,
) -> Answer:
    """Make the request of one visitor, with an id of its own if it was given none."""
    given = {
        "context": list(context) if isinstance(context, tuple) else context,
        "arms": None if arms is None else [_spell(arm) for arm in arms],
        "played": _spell(played),
        "propensity": propensity,
    }
    known = {name: value for name, value in given.items() if value is not None}
    return {"id": uuid4().hex if id_ is None else id_, **known}


def _make_reward(
    decision: ServedDecision | str,
    reward: float | None,
    observed: Mapping[str, object] | None,
    reward_id: str,
    played: Arm | None,
) -> Answer:
    """Make the request that tells a reward."""
    id_ = decision if isinstance(decision, str) else decision.id
    given = {
        "reward": reward,
        "observed": None if observed is None else dict(observed),
        "played": _spell(played),
    }
    known = {name: value for name, value in given.items() if value is not None}
    return {"id": id_, **known, **({"reward_id": reward_id} if reward_id else {})}


def _spell(arm: Arm | None) -> object:
    """Write an arm for JSON, where tuples are lists."""
    return list(arm) if isinstance(arm, tuple) else arm


def _choose_pause(tried: int) -> float:
    """Choose how long to wait before another try: longer each time, and never in step."""
    return min(0.05 * 2.0**tried, 2.0) * random.uniform(0.5, 1.5)


mark_renamed(Client, {"reward": "learn", "show": "policy", "table": "propensities"})

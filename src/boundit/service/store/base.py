"""What the engine asks of a store: rows in, rows out, one transaction at a time.

The statements are the same for both databases but for what subclasses of ``Transaction`` write.
Moments are microseconds since 1970, in UTC.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from boundit.service.errors import NoSuchPolicy, PolicyDeleted, StoreUnavailable

SCHEMA_VERSION = 3

# Events are not clustered by their key: SQLite reads the whole of a row that it compares a key
# with, and bounds of 30,000 rows in an event would be read for every event that is put before it.
_TABLES = """
CREATE TABLE IF NOT EXISTS boundit_store (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS policies (
    id {serial},
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    config TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    head BIGINT NOT NULL,
    state_position BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    bounds_version BIGINT NOT NULL,
    refuted_version BIGINT NOT NULL,
    open_decisions BIGINT NOT NULL,
    learned_decisions BIGINT NOT NULL,
    base_position BIGINT NOT NULL,
    pruned_position BIGINT NOT NULL,
    pruned_before BIGINT NOT NULL,
    retention DOUBLE PRECISION,
    deleted_at BIGINT
);
CREATE TABLE IF NOT EXISTS events (
    policy BIGINT NOT NULL,
    position BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (policy, position)
);
CREATE INDEX IF NOT EXISTS rare_events ON events (policy, position)
    WHERE kind IN ('created', 'refreshed', 'refuted', 'updated', 'pruned', 'deleted');
CREATE TABLE IF NOT EXISTS decisions (
    policy BIGINT NOT NULL,
    id TEXT NOT NULL,
    position BIGINT NOT NULL,
    due BIGINT,
    closed BIGINT,
    outcome TEXT,
    PRIMARY KEY (policy, id)
) {clustered};
CREATE INDEX IF NOT EXISTS open_decisions ON decisions (policy, due, position)
    WHERE closed IS NULL AND due IS NOT NULL;
CREATE TABLE IF NOT EXISTS pruned (
    policy BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (policy, hash)
) {clustered};
CREATE TABLE IF NOT EXISTS daily_counts (
    policy BIGINT NOT NULL,
    day TEXT NOT NULL,
    arm TEXT NOT NULL,
    decisions BIGINT NOT NULL,
    rewards BIGINT NOT NULL,
    reward_sum DOUBLE PRECISION NOT NULL,
    default_rewards BIGINT NOT NULL,
    expired BIGINT NOT NULL,
    late_rewards BIGINT NOT NULL,
    PRIMARY KEY (policy, day, arm)
) {clustered};
CREATE TABLE IF NOT EXISTS snapshots (
    policy BIGINT NOT NULL,
    position BIGINT NOT NULL,
    base INTEGER NOT NULL,
    boundit TEXT NOT NULL,
    checksum TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (policy, position, base)
);
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
"""


def require_form(found: Sequence[object] | None) -> None:
    """Refuse a store of another release, which is left as it is."""
    if found is None or str(found[0]) != str(SCHEMA_VERSION):
        form = "unknown" if found is None else found[0]
        raise StoreUnavailable(
            f"the store was written by another release (form {form}; this release reads "
            f"{SCHEMA_VERSION}): export its logs with that release, boundit policies export"
        )


def write_schema(*, serial: str, clustered: str) -> Sequence[str]:
    """Write the statements that make the tables, with what the two databases call otherwise."""
    text = _TABLES.format(serial=serial, clustered=clustered)
    return [part.strip() for part in text.split(";") if part.strip()]


class Head(NamedTuple):
    """The head row of a policy: where its events end, and what is counted of it.

    Events up to ``base_position`` need not be there, as a snapshot has the state that they led
    to; up to ``pruned_position`` all that may be erased is. ``retention`` is in days. A policy
    with ``deleted_at`` keeps its name, so that no retry meets another policy under it.
    """

    id: int
    name: str
    kind: str
    created_at: int
    head: int
    state_position: int
    last_at: int
    bounds_version: int
    refuted_version: int
    open_decisions: int
    learned_decisions: int
    base_position: int
    pruned_position: int
    pruned_before: int
    retention: float | None
    deleted_at: int | None = None


class EventRow(NamedTuple):
    """An event as it is stored."""

    position: int
    at: int
    kind: str
    body: str


class DecisionRow(NamedTuple):
    """A decision with its event, and what callers reported of it since."""

    id: str
    position: int
    due: int | None
    closed: int | None
    outcome: str | None
    at: int
    body: str


class SnapshotRow(NamedTuple):
    """A state that was kept; ``base`` is 1 where pruning left it instead of events."""

    position: int
    base: int
    boundit: str
    checksum: str
    state: str


class KeyRow(NamedTuple):
    """A key as it is stored: its hash, never itself."""

    id: str
    name: str
    roles: str
    hash: str
    created_at: int
    revoked_at: int | None


_ROOM = 2**16
_HEAD = ", ".join(Head._fields)
_UPDATE_HEAD = (
    f"UPDATE policies SET {', '.join(f'{name} = ?' for name in Head._fields[4:])} WHERE id = ?"
)
_COUNTS = {
    "decisions": int,
    "rewards": int,
    "reward_sum": float,
    "default_rewards": int,
    "expired": int,
    "late_rewards": int,
}
"""Counts of a day by name, with their types: PostgreSQL takes no array of two."""
_DAILY = ("policy", "day", "arm", *_COUNTS)
_ADD_UP = "ON CONFLICT (policy, day, arm) DO UPDATE SET " + ", ".join(
    f"{name} = daily_counts.{name} + excluded.{name}" for name in _COUNTS
)
_DELETED = "SELECT id, head FROM policies WHERE deleted_at IS NOT NULL AND config <> ''"
_EVENT = ("policy", "position", "at", "kind", "body")
_NEW_DECISION = ("policy", "id", "position", "due", "closed", "outcome")
_DECISION = "d.id, d.position, d.due, d.closed, d.outcome, e.at, e.body"
_JOIN = "decisions d JOIN events e ON e.policy = d.policy AND e.position = d.position"
_DECISIONS = f"SELECT {_DECISION} FROM {_JOIN} WHERE d.policy = ? AND "


class Transaction(ABC):
    """The statements of one transaction; what the two databases write otherwise is abstract.

    Entered, one that writes is committed at the end, and what raised is undone.
    """

    waits: ClassVar[bool] = False
    """Whether every answer is waited for over a network."""
    lock: ClassVar[str] = ""
    """What locks the rows that a query reads."""

    def __init__(self, connection: Any, read_now: Callable[[], int]) -> None:
        self.connection, self._read_now = connection, read_now
        self._expected: dict[tuple[int, tuple[str, ...]], Any] = {}

    @cached_property
    def now(self) -> int:
        """The moment of the transaction, in microseconds since 1970."""
        return self._read_now()

    @abstractmethod
    def _run(self, query: str, *parameters: object) -> Any:
        """Run one statement and give its cursor."""

    @abstractmethod
    def _insert(
        self, table: str, columns: tuple[str, ...], rows: Sequence[Sequence[object]], more: str
    ) -> None:
        """Add some rows to a table."""

    @abstractmethod
    def _among(self, kind: str) -> str:
        """Write the condition that a column is one of the values packed, of a type."""

    @abstractmethod
    def _pack(self, values: Sequence[str] | Sequence[int]) -> Any:
        """Make one parameter of several values."""

    @abstractmethod
    def _update_decisions(
        self, rows: Sequence[tuple[int | None, str | None, int, str]]
    ) -> None:
        """Set closed and outcome of decisions, by policy and id."""

    def _run_among(
        self, query: str, column: str, kind: str, values: Sequence[Any], *before: object
    ) -> Any:
        """Run a query whose last condition is that a column is one of some values.

        One value, as most requests have, is compared as it is: that costs half as much.
        """
        if len(values) == 1:
            return self._run(f"{query}{column} = ?", *before, values[0])
        return self._run(f"{query}{column} {self._among(kind)}", *before, self._pack(values))

    def lock_heads(
        self, names: Sequence[str], expected: Mapping[int, Sequence[str]] | None = None
    ) -> dict[str, Head]:
        """Lock the head rows of some policies, in the order of their names, and read them.

        No other appends to them until this transaction ends. A row that another has locked
        is left out, and not waited for. ``expected`` are ids by policy that ``list_decisions``
        will be asked for, and that are looked up in the same go.
        """
        query = f"SELECT {_HEAD} FROM policies WHERE name "
        if len(names) == 1:
            rows = self._run(f"{query}= ?{self.lock}", names[0])
        else:
            query += f"{self._among('text')} ORDER BY name{self.lock}"
            rows = self._run(query, self._pack(sorted(names)))
        for policy, ids in (expected or {}).items():
            key = policy, tuple(ids)
            self._expected[key] = self._run_among(_DECISIONS, "d.id", "text", ids, policy)
        return {row[1]: Head(*row) for row in rows}

    def find_locked(self, names: Iterable[str]) -> set[str]:
        """Find which of the policies that ``lock_heads`` left out are there: others have them."""
        wanted = list(names)
        if not wanted or not self.lock:
            return set()
        query = "SELECT name FROM policies WHERE "
        return {row[0] for row in self._run_among(query, "name", "text", wanted)}

    def require_tables(self) -> None:
        """Read one row, which every store has."""
        self._run("SELECT value FROM boundit_store WHERE name = 'schema'").fetchone()

    def touch(self) -> None:
        """Write as much as a group does, which is never read.

        A disk that is full may take a little.
        """
        self._run(
            "INSERT INTO boundit_store (name, value) VALUES ('probe', ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            f"{self.now}".ljust(_ROOM, "."),
        )

    def list_heads(self) -> list[Head]:
        """Read the head rows of all policies but those that are deleted."""
        query = f"SELECT {_HEAD} FROM policies WHERE deleted_at IS NULL ORDER BY name"
        return [Head(*row) for row in self._run(query)]

    def get_head(self, name: str) -> Head | None:
        """Read the head row of one policy."""
        row = self._run(f"SELECT {_HEAD} FROM policies WHERE name = ?", name).fetchone()
        return None if row is None else Head(*row)

    def require_head(self, name: str) -> Head:
        """Read the head row of a policy, or raise ``NoSuchPolicy`` or ``PolicyDeleted``."""
        head = self.get_head(name)
        if head is None:
            raise NoSuchPolicy(name)
        if head.deleted_at is not None:
            raise PolicyDeleted(name)
        return head

    def get_config(self, policy: int) -> str:
        """Read what a policy was created with."""
        row = self._run("SELECT config FROM policies WHERE id = ?", policy).fetchone()
        return str(row[0])

    def add_policy(
        self, name: str, kind: str, config: str, retention: float | None
    ) -> int | None:
        """Add a policy's head row; None if the name is taken."""
        found = self._run(
            "INSERT INTO policies (name, kind, config, created_at, head, state_position, "
            "last_at, bounds_version, refuted_version, open_decisions, learned_decisions, "
            "base_position, pruned_position, pruned_before, retention) "
            "VALUES (?, ?, ?, ?, 0, 0, ?, 1, 0, 0, 0, 0, 0, 0, ?) "
            "ON CONFLICT (name) DO NOTHING RETURNING id",
            name,
            kind,
            config,
            self.now,
            self.now,
            retention,
        ).fetchone()
        return None if found is None else int(found[0])

    def has_deleted(self) -> bool:
        """Return True if rows of deleted policies are left."""
        return self._run(f"{_DELETED} LIMIT 1").fetchone() is not None

    def erase_deleted(self, most: int) -> bool:
        """Erase some rows of deleted policies, and return whether more are left.

        What stays is the head row and the event that deleted the policy.
        """
        found = self._run(f"{_DELETED} ORDER BY id LIMIT 1").fetchone()
        if found is None:
            return False
        policy, head = found
        for table, key, kept in (
            ("events", "position", f" AND position < {head}"),
            ("decisions", "id", ""),
            ("pruned", "hash", ""),
        ):
            own = f"FROM {table} WHERE policy = ?{kept}"
            if self._run(f"SELECT 1 {own} LIMIT 1", policy).fetchone():
                some = f"SELECT {key} {own} LIMIT ?"
                self._run(f"DELETE {own} AND {key} IN ({some})", policy, policy, most)
                return True
        for table in ("daily_counts", "snapshots"):
            self._run(f"DELETE FROM {table} WHERE policy = ?", policy)
        self._run("UPDATE policies SET config = '' WHERE id = ?", policy)
        return True

    def list_events(
        self, policy: int, after: int, limit: int, kinds: Sequence[str] = ()
    ) -> list[EventRow]:
        """Read events past a position in order, of some kinds or of all."""
        query = "SELECT position, at, kind, body FROM events WHERE policy = ? AND position > ?"
        parameters: list[object] = [policy, after]
        if kinds:
            query += f" AND kind IN ({', '.join('?' * len(kinds))})"
            parameters += kinds
        query += " ORDER BY position LIMIT ?"
        return [EventRow(*row) for row in self._run(query, *parameters, limit)]

    def find_event_since(self, policy: int, after: int, at: int) -> int | None:
        """Find the first event past a position that is of a moment or later."""
        query = (
            "SELECT position FROM events WHERE policy = ? AND position > ? AND at >= ? "
            "ORDER BY position LIMIT 1"
        )
        row = self._run(query, policy, after, at).fetchone()
        return None if row is None else int(row[0])

    def list_rare_events(self, policy: int) -> list[EventRow]:
        """Read the events that are few: all but decided, rewarded and closed."""
        query = (
            "SELECT position, at, kind, body FROM events WHERE policy = ? AND kind IN "
            "('created', 'refreshed', 'refuted', 'updated', 'pruned', 'deleted') "
            "ORDER BY position"
        )
        return [EventRow(*row) for row in self._run(query, policy)]

    def get_events(self, policy: int, positions: Sequence[int]) -> dict[int, EventRow]:
        """Read events by position."""
        query = "SELECT position, at, kind, body FROM events WHERE policy = ? AND "
        rows = self._run_among(query, "position", "bigint", positions, policy)
        return {row[0]: EventRow(*row) for row in rows}

    def find_decisions(self, policy: int, ids: Sequence[str]) -> dict[str, DecisionRow]:
        """Find decisions by their ids."""
        return {row[0]: DecisionRow(*row) for row in self.list_decisions(policy, ids)}

    def list_decisions(self, policy: int, ids: Sequence[str]) -> Iterable[Sequence[Any]]:
        """List decisions by their ids, in any order, with the values of a ``DecisionRow``."""
        found: Iterable[Sequence[Any]] | None = None
        if self._expected:
            found = self._expected.pop((policy, tuple(ids)), None)
        if found is None:
            found = self._run_among(_DECISIONS, "d.id", "text", ids, policy)
        return found

    def find_pruned(self, policy: int, hashes: Sequence[str]) -> set[str]:
        """Find which ids, by their hashes, were pruned."""
        query = "SELECT hash FROM pruned WHERE policy = ? AND "
        return {row[0] for row in self._run_among(query, "hash", "text", hashes, policy)}

    def list_due(self, policy: int, at: int, limit: int) -> list[DecisionRow]:
        """List open decisions whose windows are over, in the order in which they close."""
        query = (
            f"SELECT {_DECISION} FROM {_JOIN} WHERE d.policy = ? AND d.closed IS NULL "
            "AND d.due IS NOT NULL AND d.due <= ? ORDER BY d.due, d.position LIMIT ?"
        )
        return [DecisionRow(*row) for row in self._run(query, policy, at, limit)]

    def find_next_due(self) -> dict[int, int]:
        """Find when the next window of each policy closes, by one look into the index for each."""
        query = (
            "SELECT id, (SELECT MIN(due) FROM decisions WHERE policy = policies.id AND "
            "closed IS NULL AND due IS NOT NULL) FROM policies"
        )
        return {row[0]: row[1] for row in self._run(query) if row[1] is not None}

    def save(
        self,
        head: Head,
        events: Sequence[tuple[int, int, int, str, str]],
        added: Sequence[tuple[int, str, int, int | None, int | None, str | None]],
        changed: Sequence[tuple[int | None, str | None, int, str]],
        day: str,
        counts: Mapping[tuple[str, str], float],
    ) -> None:
        """Write what a group did to a policy, its head row last.

        Events are policy, position, at, kind, body; decisions that were added policy, id,
        position, due, closed, outcome; those that changed closed, outcome, policy, id; counts
        of the day are by arm and name.
        """
        if events:
            self._insert("events", _EVENT, events, "")
        if added:
            self._insert("decisions", _NEW_DECISION, added, "")
        if changed:
            self._update_decisions(changed)
        if counts:
            arms = sorted({arm for arm, _ in counts})
            rows = [
                (
                    head.id,
                    day,
                    arm,
                    *(kind(counts.get((arm, name), 0)) for name, kind in _COUNTS.items()),
                )
                for arm in arms
            ]
            self._insert("daily_counts", _DAILY, rows, _ADD_UP)
        self._run(_UPDATE_HEAD, *head[4:], head.id)

    def add_snapshot(self, policy: int, row: SnapshotRow) -> None:
        """Store a snapshot, unless there is one."""
        self._run(
            "INSERT INTO snapshots (policy, position, base, boundit, checksum, state) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            policy,
            *row,
        )

    def list_snapshots(self, policy: int) -> list[SnapshotRow]:
        """Read the snapshots of a policy."""
        rows = self._run(
            "SELECT position, base, boundit, checksum, state FROM snapshots WHERE policy = ?",
            policy,
        )
        return [SnapshotRow(*row) for row in rows]

    def drop_snapshot(self, policy: int, row: SnapshotRow) -> None:
        """Drop a snapshot."""
        self._run(
            "DELETE FROM snapshots WHERE policy = ? AND position = ? AND base = ?",
            policy,
            row.position,
            row.base,
        )

    def erase(
        self, policy: int, ids: Sequence[str], hashes: Sequence[str], positions: Sequence[int]
    ) -> None:
        """Erase decisions and their events, and keep the hashes of their ids."""
        if not ids:
            return
        gone = [(policy, one) for one in hashes]
        self._insert("pruned", ("policy", "hash"), gone, "ON CONFLICT DO NOTHING")
        query = "DELETE FROM decisions WHERE policy = ? AND "
        self._run_among(query, "id", "text", ids, policy)
        query = "DELETE FROM events WHERE policy = ? AND "
        self._run_among(query, "position", "bigint", positions, policy)

    def add_key(self, row: KeyRow) -> None:
        """Store a key."""
        self._run(
            "INSERT INTO keys (id, name, roles, hash, created_at, revoked_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            *row,
        )

    def list_keys(self) -> list[KeyRow]:
        """Read all keys."""
        rows = self._run(
            "SELECT id, name, roles, hash, created_at, revoked_at FROM keys "
            "ORDER BY created_at, id"
        )
        return [KeyRow(*row) for row in rows]

    def revoke_key(self, id: str) -> None:  # noqa: A002, the word users know
        """Note that a key is revoked now."""
        self._run("UPDATE keys SET revoked_at = ? WHERE id = ?", self.now, id)

    def list_daily_counts(self, policy: int) -> list[tuple[Any, ...]]:
        """Read the counts by day and arm."""
        rows: list[tuple[Any, ...]] = self._run(
            f"SELECT day, arm, {', '.join(_COUNTS)} "
            "FROM daily_counts WHERE policy = ? ORDER BY day, arm",
            policy,
        ).fetchall()
        return rows


class Store(Protocol):
    """A place for events: transactions that write, one at a time, and others that read."""

    def write(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that commits when the ``with`` ends and undoes what raised."""
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that sees one moment of the store."""
        ...

    def forget(self) -> bool:
        """Let go of what was erased, also where it lies besides; gives whether that is done."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...

"""What the engine asks of a store: rows in, rows out, one transaction at a time.

The statements are the same for both databases but for a few words, which ``Dialect`` has.
Moments are microseconds since 1970, in UTC.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, NamedTuple, Protocol


class Head(NamedTuple):
    """The head row of a policy: where its events end, and what is counted of it."""

    id: int
    name: str
    created_at: int
    head: int
    state_position: int
    last_at: int
    bounds_version: int
    refuted_version: int
    n_open: int
    n_learned: int
    pruned_position: int
    pruned_before: int


class EventRow(NamedTuple):
    """An event as it is stored."""

    position: int
    at: int
    kind: str
    body: str


class DecisionRow(NamedTuple):
    """A decision with its event, and what callers told of it since."""

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


class Connection(Protocol):
    """What ``sqlite3`` and ``psycopg`` connections share."""

    def execute(self, query: Any, params: Any = ..., /) -> Any:
        """Run one statement; called by ``Transaction``."""
        ...


class Dialect(Protocol):
    """The words in which the two databases differ."""

    def translate(self, query: str) -> Any:
        """Write a statement with the database's own placeholders; called by ``Transaction``."""
        ...

    def pack(self, values: Sequence[str] | Sequence[int]) -> Any:
        """Make one parameter of several values; called by ``Transaction``."""
        ...

    def add_rows(
        self,
        connection: Any,
        table: str,
        columns: tuple[str, ...],
        rows: Sequence[Sequence[object]],
        more: str,
    ) -> None:
        """Add many rows to a table by one statement; called by ``Transaction``."""
        ...

    def update_rows(self, connection: Any, rows: Sequence[Sequence[object]]) -> None:
        """Set closed and outcome of decisions, by policy and id; called by ``Transaction``."""
        ...

    def write_among(self, kind: str) -> str:
        """Write the condition that a column is one of the values packed, of a type."""
        ...

    @property
    def waits(self) -> bool:
        """Whether every answer is waited for over a network; read by ``Transaction``."""
        ...

    @property
    def lock(self) -> str:
        """What locks the rows that a query reads; read by ``Transaction.lock_heads``."""
        ...


_ROOM = 2**16
_HEAD = ", ".join(Head._fields)
_COUNTS = ("decided", "learned", "reward_sum", "defaults", "unlearned", "late")
_TALLIES = ("policy", "day", "arm", *_COUNTS)
_ADD_UP = "ON CONFLICT (policy, day, arm) DO UPDATE SET " + ", ".join(
    f"{name} = tallies.{name} + excluded.{name}" for name in _COUNTS
)
_EVENT = ("policy", "position", "at", "kind", "body")
_NEW_DECISION = ("policy", "id", "position", "due", "closed", "outcome")
_DECISION = "d.id, d.position, d.due, d.closed, d.outcome, e.at, e.body"
_JOIN = "decisions d JOIN events e ON e.policy = d.policy AND e.position = d.position"


class Transaction:
    """The statements of one transaction."""

    def __init__(
        self, connection: Connection, dialect: Dialect, read_now: Callable[[], int]
    ) -> None:
        self.connection, self._dialect, self._read_now = connection, dialect, read_now
        self._expected: dict[tuple[int, tuple[str, ...]], Any] = {}

    @property
    def waits(self) -> bool:
        """Whether every answer is waited for over a network; read by ``GroupWriter``."""
        return self._dialect.waits

    @cached_property
    def now(self) -> int:
        """The moment of the transaction, in microseconds since 1970."""
        return self._read_now()

    def _run(self, query: str, *parameters: object) -> Any:
        """Run one statement and give its cursor; called by every method here."""
        return self.connection.execute(self._dialect.translate(query), parameters)

    def _add_rows(
        self,
        table: str,
        columns: tuple[str, ...],
        rows: Sequence[Sequence[object]],
        more: str = "",
    ) -> None:
        """Add rows with these columns to a table; called by the methods that add rows."""
        if rows:
            self._dialect.add_rows(self.connection, table, columns, rows, more)

    def _run_among(
        self, query: str, column: str, kind: str, values: Sequence[Any], *before: object
    ) -> Any:
        """Run a query whose last condition is that a column is one of some values.

        One value, as most requests have, is compared as it is: that costs half as much.
        """
        if len(values) == 1:
            return self._run(f"{query}{column} = ?", *before, values[0])
        among = self._dialect.write_among(kind)
        return self._run(f"{query}{column} {among}", *before, self._dialect.pack(values))

    def lock_heads(
        self, names: Sequence[str], expected: Mapping[int, Sequence[str]] | None = None
    ) -> dict[str, Head]:
        """Lock the head rows of some policies, in the order of their names, and read them.

        Nobody else appends to them until this transaction ends. A row that another has locked
        is left out, and not waited for. ``expected`` are ids by policy that ``list_decisions``
        will be asked for, and that are looked up in the same go.
        """
        query = f"SELECT {_HEAD} FROM policies WHERE name "
        if len(names) == 1:
            rows = self._run(f"{query}= ?{self._dialect.lock}", names[0])
        else:
            query += f"{self._dialect.write_among('text')} ORDER BY name{self._dialect.lock}"
            rows = self._run(query, self._dialect.pack(sorted(names)))
        for policy, ids in (expected or {}).items():
            key = policy, tuple(ids)
            self._expected[key] = self._ask_decisions(*key)
        return {row[1]: Head(*row) for row in rows}

    def find_locked(self, names: Iterable[str]) -> set[str]:
        """Find which of the policies that ``lock_heads`` left out are there: others have them."""
        wanted = list(names)
        if not wanted or not self._dialect.lock:
            return set()
        query = "SELECT name FROM policies WHERE "
        return {row[0] for row in self._run_among(query, "name", "text", wanted)}

    def require_tables(self) -> None:
        """Read one row, which every store has; called by ``Engine.require_ready``."""
        self._run("SELECT value FROM boundit_store WHERE name = 'schema'").fetchone()

    def touch(self) -> None:
        """Write as much as a group does, which nobody reads; called by ``Engine._try_again``.

        A disk that is full may have room for a little.
        """
        self._run(
            "INSERT INTO boundit_store (name, value) VALUES ('room', ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            f"{self.now}".ljust(_ROOM, "."),
        )

    def list_heads(self) -> list[Head]:
        """Read the head rows of all policies; called by ``Engine.list_policies``."""
        return [Head(*row) for row in self._run(f"SELECT {_HEAD} FROM policies ORDER BY name")]

    def get_head(self, name: str) -> Head | None:
        """Read the head row of one policy; called where one is shown or replayed."""
        row = self._run(f"SELECT {_HEAD} FROM policies WHERE name = ?", name).fetchone()
        return None if row is None else Head(*row)

    def get_config(self, policy: int) -> str:
        """Read what a policy was created with; called by ``create_policy``."""
        row = self._run("SELECT config FROM policies WHERE id = ?", policy).fetchone()
        return str(row[0])

    def add_policy(self, name: str, config: str) -> int | None:
        """Add a policy's head row; None if the name is taken."""
        found = self._run(
            "INSERT INTO policies (name, config, created_at, head, state_position, last_at, "
            "bounds_version, refuted_version, n_open, n_learned, pruned_position, "
            "pruned_before) VALUES (?, ?, ?, 0, 0, ?, 1, 0, 0, 0, 0, 0) "
            "ON CONFLICT (name) DO NOTHING RETURNING id",
            name,
            config,
            self.now,
            self.now,
        ).fetchone()
        return None if found is None else int(found[0])

    def update_head(self, head: Head) -> None:
        """Write a head row back; called by ``PolicyChanges.write``."""
        self._run(
            "UPDATE policies SET head = ?, state_position = ?, last_at = ?, "
            "bounds_version = ?, refuted_version = ?, n_open = ?, n_learned = ?, "
            "pruned_position = ?, pruned_before = ? WHERE id = ?",
            *head[3:],
            head.id,
        )

    def add_events(self, rows: Sequence[tuple[int, int, int, str, str]]) -> None:
        """Append events: policy, position, at, kind, body."""
        self._add_rows("events", _EVENT, rows)

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
        """Read the events that are few: created, refreshed, refuted, pruned.

        Called where bounds of a version are asked for.
        """
        query = (
            "SELECT position, at, kind, body FROM events WHERE policy = ? AND "
            "kind IN ('created', 'refreshed', 'refuted', 'pruned') ORDER BY position"
        )
        return [EventRow(*row) for row in self._run(query, policy)]

    def get_events(self, policy: int, positions: Sequence[int]) -> dict[int, EventRow]:
        """Read events by position; called by ``Engine.get_decision`` and ``_list_rows``."""
        query = "SELECT position, at, kind, body FROM events WHERE policy = ? AND "
        rows = self._run_among(query, "position", "bigint", positions, policy)
        return {row[0]: EventRow(*row) for row in rows}

    def find_decisions(self, policy: int, ids: Sequence[str]) -> dict[str, DecisionRow]:
        """Find decisions by their ids; called where a few are shown, erased or replayed."""
        return {row[0]: DecisionRow(*row) for row in self.list_decisions(policy, ids)}

    def list_decisions(self, policy: int, ids: Sequence[str]) -> Iterable[Sequence[Any]]:
        """List decisions by their ids, in any order, with the values of a ``DecisionRow``."""
        rows = self._expected.pop((policy, tuple(ids)), None) if self._expected else None
        found: Iterable[Sequence[Any]] = (
            self._ask_decisions(policy, ids) if rows is None else rows
        )
        return found

    def _ask_decisions(self, policy: int, ids: Sequence[str]) -> Any:
        """Ask for decisions by their ids, and give the cursor."""
        query = f"SELECT {_DECISION} FROM {_JOIN} WHERE d.policy = ? AND "
        return self._run_among(query, "d.id", "text", ids, policy)

    def find_pruned(self, policy: int, hashes: Sequence[str]) -> set[str]:
        """Find which ids, by their hashes, were pruned; called by ``PolicyChanges.look_up``."""
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

    def add_decisions(
        self, rows: Sequence[tuple[int, str, int, int | None, int | None, str | None]]
    ) -> None:
        """Add decisions: policy, id, position, due, closed, outcome."""
        self._add_rows("decisions", _NEW_DECISION, rows)

    def update_decisions(self, rows: Sequence[tuple[int | None, str | None, int, str]]) -> None:
        """Set closed and outcome of decisions, by policy and id."""
        self._dialect.update_rows(self.connection, rows)

    def add_tallies(self, policy: int, rows: Mapping[tuple[str, str], Sequence[float]]) -> None:
        """Add to the counts by day and arm; called by ``PolicyChanges.write``."""
        found = [(policy, *key, *row) for key, row in sorted(rows.items())]
        self._add_rows("tallies", _TALLIES, found, _ADD_UP)

    def add_snapshot(self, policy: int, row: SnapshotRow) -> None:
        """Store a snapshot, unless there is one; called by ``keep_snapshot``."""
        self._run(
            "INSERT INTO snapshots (policy, position, base, boundit, checksum, state) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            policy,
            *row,
        )

    def list_snapshots(self, policy: int) -> list[SnapshotRow]:
        """Read the snapshots of a policy; called by ``start_fold`` and ``keep_snapshot``."""
        rows = self._run(
            "SELECT position, base, boundit, checksum, state FROM snapshots WHERE policy = ?",
            policy,
        )
        return [SnapshotRow(*row) for row in rows]

    def drop_snapshot(self, policy: int, row: SnapshotRow) -> None:
        """Drop a snapshot; called by ``keep_snapshot`` and ``keep_base``."""
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
        among, pack = self._dialect.write_among, self._dialect.pack
        gone = [(policy, one) for one in hashes]
        self._add_rows("pruned", ("policy", "hash"), gone, "ON CONFLICT DO NOTHING")
        query = f"DELETE FROM decisions WHERE policy = ? AND id {among('text')}"
        self._run(query, policy, pack(ids))
        query = f"DELETE FROM events WHERE policy = ? AND position {among('bigint')}"
        self._run(query, policy, pack(positions))

    def add_key(self, row: KeyRow) -> None:
        """Store a key; called by ``add_key``."""
        self._run(
            "INSERT INTO keys (id, name, roles, hash, created_at, revoked_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            *row,
        )

    def list_keys(self) -> list[KeyRow]:
        """Read all keys; called by ``KeyRing.refresh`` and ``list_keys``."""
        rows = self._run(
            "SELECT id, name, roles, hash, created_at, revoked_at FROM keys "
            "ORDER BY created_at, id"
        )
        return [KeyRow(*row) for row in rows]

    def revoke_key(self, id: str) -> None:  # noqa: A002, the word users know
        """Note that a key is revoked now; called by ``revoke_key``."""
        self._run("UPDATE keys SET revoked_at = ? WHERE id = ?", self.now, id)

    def list_tallies(self, policy: int) -> list[tuple[Any, ...]]:
        """Read the counts by day and arm; called by ``Engine.list_tallies``."""
        rows: list[tuple[Any, ...]] = self._run(
            "SELECT day, arm, decided, learned, reward_sum, defaults, unlearned, late "
            "FROM tallies WHERE policy = ? ORDER BY day, arm",
            policy,
        ).fetchall()
        return rows


class Store(Protocol):
    """A place for events: transactions that write, one at a time, and others that read."""

    def write(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that commits when the ``with`` ends and undoes what raised."""
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that sees one moment of the store; called from any thread."""
        ...

    def forget(self) -> bool:
        """Let go of what was erased, also where it lies besides; gives whether that is done."""
        ...

    def close(self) -> None:
        """Close all connections; called by ``Engine.stop``."""
        ...

"""The tables of a store, and the version of their form.

Every policy has a head row, locked and updated in the transaction that appends events, so that
the order of positions is the order of commits. ``decisions`` finds an event by the caller's id,
and keeps what rewards were told; ``tallies`` count by day and arm.
"""

from collections.abc import Sequence

SCHEMA_VERSION = 2

_TABLES = """
CREATE TABLE IF NOT EXISTS boundit_store (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS policies (
    id {serial},
    name TEXT NOT NULL UNIQUE,
    config TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    head BIGINT NOT NULL,
    state_position BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    bounds_version BIGINT NOT NULL,
    refuted_version BIGINT NOT NULL,
    n_open BIGINT NOT NULL,
    n_learned BIGINT NOT NULL,
    pruned_position BIGINT NOT NULL,
    pruned_before BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS events (
    policy BIGINT NOT NULL,
    position BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (policy, position)
) {clustered};
CREATE INDEX IF NOT EXISTS rare_events ON events (policy, position)
    WHERE kind IN ('created', 'refreshed', 'refuted', 'pruned');
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
CREATE TABLE IF NOT EXISTS tallies (
    policy BIGINT NOT NULL,
    day TEXT NOT NULL,
    arm TEXT NOT NULL,
    decided BIGINT NOT NULL,
    learned BIGINT NOT NULL,
    reward_sum DOUBLE PRECISION NOT NULL,
    defaults BIGINT NOT NULL,
    unlearned BIGINT NOT NULL,
    late BIGINT NOT NULL,
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


def write_schema(*, serial: str, clustered: str) -> Sequence[str]:
    """Write the statements that make the tables, with what the two databases call otherwise."""
    text = _TABLES.format(serial=serial, clustered=clustered)
    return [part.strip() for part in text.split(";") if part.strip()]

"""Replay: the events are folded again, and the result is held against all that was kept."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from boundit import __version__
from boundit.service.decide import Visit, choose_arms
from boundit.service.errors import ServiceError
from boundit.service.events import (
    CLOSED,
    DECIDED,
    STATE_KINDS,
    Decided,
    read_closed,
    read_created,
    read_decided,
)
from boundit.service.state import compute_digest, start_fold
from boundit.service.store.base import EventRow, Head, SnapshotRow, Store, Transaction
from boundit.service.values import decode_level_list

_AT_ONCE = 2048
MOST_SHOWN = 20
"""How many differences are listed."""


class KeptState(NamedTuple):
    """A state that somebody has in memory, and the position of the last event in it."""

    position: int
    state: str


class ReplayReport(Struct, frozen=True):
    """What a replay found: how much was folded and compared, and what differs.

    ``notes`` say what could not be compared, such as what another release wrote.
    """

    policy: str
    events: int
    position: int
    learned: int
    decisions: int
    snapshots: list[int]
    differences: list[str]
    notes: list[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def replay_policy(
    store: Store, name: str, *, decisions: bool = False, kept: KeptState | None = None
) -> ReplayReport:
    """Fold all events of a policy again, and compare with every state that was kept.

    With ``decisions`` every decision is made again in the state it was made in. ``kept`` is a
    state in memory to compare with, too.
    """
    with store.read() as transaction:
        head = transaction.require_head(name)
        return _Replay(transaction, head, decisions=decisions, kept=kept).run()


class _Replay:
    """One pass over the events of a policy."""

    def __init__(
        self, transaction: Transaction, head: Head, *, decisions: bool, kept: KeptState | None
    ) -> None:
        self._transaction, self._head, self._again = transaction, head, decisions
        self._snapshots = sorted(transaction.list_snapshots(head.id))
        self._fold = start_fold(transaction, head)
        self._kept = kept
        self._waiting: list[tuple[EventRow, Decided]] = []
        self._compared: list[int] = []
        self._found: list[str] = []
        self._notes: list[str] = []
        self._n_events = self._n_closed = self._n_decided = self._last_state = 0

    def run(self) -> ReplayReport:
        """Fold event by event."""
        created = self._transaction.list_rare_events(self._head.id)[0]
        wrote = read_created(created.body).boundit
        if wrote != __version__:
            said = f"it was created by boundit {wrote}, and this is {__version__}"
            self._notes.append(said)
        self._compare_states()
        for row in self._list_events():
            self._n_events += 1
            if row.kind == DECIDED and self._again:
                self._waiting.append((row, read_decided(row.body)))
                if len(self._waiting) >= _AT_ONCE:
                    self._decide_again()
            elif row.kind in STATE_KINDS:
                self._decide_again()
                self._fold.apply([row])
                self._n_closed += row.kind == CLOSED
                self._compare_states()
        self._decide_again()
        self._compare_head()
        return ReplayReport(
            self._head.name,
            self._n_events,
            self._head.head,
            self._n_closed,
            self._n_decided,
            self._compared,
            self._found[:MOST_SHOWN],
            self._notes[:MOST_SHOWN],
        )

    def _list_events(self) -> Iterator[EventRow]:
        """List the events past the state that the replay starts from.

        Every event that closes a decision must be the one that the decision names: so none is
        learned twice.
        """
        position = expected = self._fold.position
        kinds = () if self._again else STATE_KINDS
        while rows := self._transaction.list_events(self._head.id, position, _AT_ONCE, kinds):
            position = rows[-1].position
            self._check_closings(rows)
            for row in rows:
                if self._again and row.position > expected + 1:
                    said = f"events between {expected} and {row.position} are gone"
                    if self._head.base_position:  # such as late rewards of what was pruned
                        self._notes.append(f"{said}: of pruned decisions, unless they are lost")
                    else:
                        self._found.append(said)
                expected = row.position
                yield row

    def _check_closings(self, rows: Sequence[EventRow]) -> None:
        """Check that these events closed decisions once."""
        closings = {row.position: read_closed(row.body) for row in rows if row.kind == CLOSED}
        known = self._transaction.find_decisions(
            self._head.id, [closed.id for closed in closings.values()]
        )
        for position, closed in closings.items():
            found = known.get(closed.id)
            if found is not None and found.closed != position:
                said = f"the decision at {closed.decision} is closed at {position}"
                self._found.append(f"{said} and at {found.closed}")

    def _compare_states(self) -> None:
        """Compare with states that were kept at this position."""
        position = self._fold.state_position
        state: str | None = None
        for row in self._snapshots:
            if row.position == position:
                state = state or self._fold.write_state()
                self._compare_snapshot(row, state)
        if self._kept is not None and self._kept.position == position:
            if (state or self._fold.write_state()) != self._kept.state:
                self._found.append(f"the state in memory at {position} differs")
            self._kept = None

    def _compare_snapshot(self, row: SnapshotRow, state: str) -> None:
        """Compare with one snapshot."""
        if compute_digest(row.state) != row.checksum:
            self._found.append(f"the snapshot at {row.position} is damaged")
        elif row.boundit != __version__:
            self._notes.append(f"the snapshot at {row.position} is of boundit {row.boundit}")
        elif row.state != state:
            self._found.append(f"the snapshot at {row.position} differs from the events")
        else:
            self._compared.append(row.position)

    def _decide_again(self) -> None:
        """Make decisions again in the state they were made in."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        for row, decided in waiting:
            if decided.state != self._fold.state_position:
                said = f"the decision at {row.position} names state {decided.state}"
                self._found.append(f"{said}, and was made in {self._fold.state_position}")
        try:
            found = choose_arms(self._fold, [_read_visit(decided) for _, decided in waiting])
        except ServiceError as error:
            self._found.append(f"decisions from {waiting[0][0].position} on: {error}")
            return
        self._n_decided += len(waiting)
        for (row, decided), chosen in zip(waiting, found, strict=True):
            same = decode_level_list(decided.arm) == chosen.arm
            if not same or bytes(decided.propensities) != bytes(chosen.propensities.body):
                self._found.append(f"the decision at {row.position} would be another")

    def _compare_head(self) -> None:
        """Compare with what the head row says."""
        head, fold = self._head, self._fold
        if fold.state_position != head.state_position:
            said = f"the head says that the state changed last at {head.state_position}"
            self._found.append(f"{said}, the events say {fold.state_position}")
        if fold.bounds_version != head.bounds_version:
            self._found.append(f"the head has bounds {head.bounds_version}")
        if self._kept is not None:
            self._found.append(f"no event made the state in memory at {self._kept.position}")
        last = self._transaction.list_events(head.id, head.head - 1, 2)
        if [row.position for row in last] != [head.head] and head.head > head.pruned_position:
            self._found.append(f"the head is at {head.head}, and events end elsewhere")


def _read_visit(decided: Decided) -> Visit:
    """Read the visitor of a stored decision."""
    arms = None
    if decided.arms is not None:
        arms = tuple(decode_level_list(arm) for arm in decided.arms)
    return Visit(decided.id, decode_level_list(decided.context), arms, None, None)


def describe_replay(report: ReplayReport) -> str:
    """Say in lines of text what a replay found."""
    learned, position = f"{report.learned:,} closed decisions", f"{report.position:,}"
    lines = [f"policy {report.policy}: {learned} replayed, up to position {position}"]
    if report.decisions:
        lines.append(f"{report.decisions:,} decisions made again")
    places = ", ".join(map(str, report.snapshots)) or "none"
    lines.append(f"bit-identical snapshots: {places}")
    lines.append(
        f"compare position {position} with the server's: a copy without the write-ahead log "
        "ends sooner, and looks whole"
    )
    lines += [f"note: {one}" for one in report.notes]
    lines += [f"DIFFERS: {one}" for one in report.differences] or ["nothing differs"]
    return "\n".join(lines)

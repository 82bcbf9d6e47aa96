"""The service's log for others: one row a closed decision, as boundit, VW and obp read them.

Every row has the column ``boundit_adaptive``, by which ``read_log`` knows that a policy learned
while it wrote.
"""

import csv
import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from boundit.bandit.features import FeatureEncoding
from boundit.core.errors import BounditError, shorten
from boundit.core.names import ADAPTIVE_COLUMN
from boundit.results.bound import Arm
from boundit.service.errors import Unprocessable
from boundit.service.events import (
    CLOSED,
    Closed,
    Decided,
    read_closed,
    read_decided,
    to_datetime,
    write_body,
)
from boundit.service.state import load_fold
from boundit.service.store.base import Store
from boundit.service.values import decode_level_list, write_named, write_value

Format: TypeAlias = Literal["csv", "jsonl", "parquet", "dsjson", "obp"]
FORMATS: tuple[Format, ...] = get_args(Format)
_AT_ONCE = 1000
_OURS = ("decision_id", "decided_at", "propensity")
_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
_CHUNK = 2**16


def export_log(store: Store, name: str, form: str, *, after: int = 0) -> Iterator[bytes]:
    """Write the decisions of a policy that closed after a position, piece by piece.

    Errors are raised before the first piece.
    """
    if form not in FORMATS:
        reason = f"no format is named {shorten(repr(form), 40)}; there are {', '.join(FORMATS)}"
        raise Unprocessable(reason, field="$.format")
    export = _Export(store, name, after)
    write: Iterator[bytes] = getattr(export, f"write_{form}")()
    return write


class _Scored(NamedTuple):
    """A closed decision with the arms of its call, their propensities, and the arm played."""

    closed: Closed
    arms: list[Arm]
    propensities: list[float]
    place: int


class _Export:
    """The closed decisions of a policy, up to where its events end now."""

    def __init__(self, store: Store, name: str, after: int) -> None:
        self._store, self._after = store, after
        with store.read() as transaction:
            head = transaction.require_head(name)
            self._id, self._end = head.id, head.head
            self._fold = load_fold(transaction, head)

    def _list_closed(self) -> Iterator[tuple[Closed, Decided | None]]:
        """List the closed decisions whose arm is known, in the order they were closed."""
        position = self._after
        while True:
            # A transaction for each: others must not wait until the last row is written.
            with self._store.read() as transaction:
                rows = transaction.list_events(self._id, position, _AT_ONCE, (CLOSED,))
                found = [read_closed(row.body) for row in rows if row.position <= self._end]
                places = [one.decision for one in found]
                made = transaction.get_events(self._id, places) if places else {}
            if not found:
                return
            position = rows[-1].position
            for one in found:
                if one.arm is not None:
                    event = made.get(one.decision)
                    yield one, None if event is None else read_decided(event.body)

    @cached_property
    def _columns(self) -> "LogColumns":
        n_context, n_arm, seen = 0, 0, set[str]()
        for closed, _ in self._list_closed():
            n_context = max(n_context, len(closed.context))
            n_arm = max(n_arm, len(closed.arm or ()))
            seen.update(closed.observed or ())
        names = self._fold.names
        return LogColumns(
            names.context or _number("context", n_context),
            names.treatments or _number("arm", n_arm),
            names.outcome or "reward",
            sorted(seen),
            [
                names.context is not None,
                names.treatments is not None,
                names.outcome is not None,
            ],
        )

    def _list_values(self) -> Iterator[list[Any]]:
        columns = self._columns
        return (columns.list_values(closed) for closed, _ in self._list_closed())

    def write_csv(self) -> Iterator[bytes]:
        """Write rows as CSV, a missing value as nothing."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(self._columns.names)
        for values in self._list_values():
            lines.writerow(values)
            if text.tell() > _CHUNK:
                yield text.getvalue().encode()
                text.seek(0)
                text.truncate()
        yield text.getvalue().encode()

    def write_jsonl(self) -> Iterator[bytes]:
        """Write rows as JSON objects, one a line."""
        names = self._columns.names
        return _join_lines(
            dict(zip(names, values, strict=True)) for values in self._list_values()
        )

    def write_parquet(self) -> Iterator[bytes]:
        """Write rows as a Parquet file with typed columns."""
        columns = self._columns
        types = [set[type]() for _ in columns.names]
        with tempfile.TemporaryDirectory() as folder:
            lines, file = Path(folder) / "rows.json", Path(folder) / "rows.parquet"
            # Columns are numbered on the way: names may be anything.
            with lines.open("wb") as rows:
                rows.writelines(_join_lines(_number_values(self._list_values(), types)))
            kinds = {f"c{i}": _find_type(found) for i, found in enumerate(types)}
            for name in (columns.reward, columns.propensity):
                kinds[f"c{columns.names.index(name)}"] = "DOUBLE"
            import duckdb  # noqa: PLC0415, 30 MB that a server needs for this alone

            with duckdb.connect() as connection:
                read = connection.read_json(
                    str(lines), columns=kinds, format="newline_delimited"
                )
                quoted = [name.replace('"', '""') for name in columns.names]
                named = [f'c{i} AS "{name}"' for i, name in enumerate(quoted)]
                read.project(", ".join(named)).write_parquet(str(file))
            with file.open("rb") as found:
                while piece := found.read(_CHUNK):
                    yield piece

    def write_dsjson(self) -> Iterator[bytes]:
        """Write decisions as Vowpal Wabbit's dsjson: the arm played first, costs are negative.

        Those without a reward or a propensity teach it nothing and are left out.
        """
        return _join_lines(map(self._make_dsjson, self._list_scored()))

    def _make_dsjson(self, scored: _Scored) -> dict[str, Any]:
        closed, arms, propensities, place = scored
        names = self._fold.names
        order = [place, *(i for i in range(len(arms)) if i != place)]
        shared = write_named(names.context, decode_level_list(closed.context))
        return {
            "_label_cost": -(closed.reward or 0.0),
            "_label_probability": closed.propensity,
            "_label_Action": place + 1,
            "_labelIndex": place,
            "o": [{"EventId": closed.id, "v": closed.reward}],
            "Timestamp": to_datetime(closed.at).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "Version": "1",
            "EventId": closed.id,
            "a": [i + 1 for i in order],
            "c": {
                "context": _name_features(shared),
                "_multi": [{"arm": _name_features(names.write_arm(arm))} for arm in arms],
            },
            "p": [propensities[i] for i in order],
            "VWState": {"m": "boundit"},
        }

    def write_obp(self) -> Iterator[bytes]:
        """Write decisions by the names of obp's bandit feedback, one JSON object a line.

        Actions are numbered in the order in which arms were first held; contexts are numbers,
        text one-hot. Those without a reward or a propensity are left out.
        """
        numbers = dict[Arm, int]()
        for version in sorted(self._fold.held):
            for arm in self._fold.held[version]:
                numbers.setdefault(decode_level_list(arm), len(numbers))
        encoding = FeatureEncoding.of(self._fold.policy.spec)

        def make(scored: _Scored) -> dict[str, Any]:
            closed, arms, propensities, place = scored
            shares = dict.fromkeys(numbers.values(), 0.0)
            for arm, propensity in zip(arms, propensities, strict=True):
                shares[numbers.setdefault(arm, len(numbers))] = propensity
            context: list[float] | None
            try:
                values = decode_level_list(closed.context)
                context = encoding.encode_context(values, arms[place])
            except BounditError:  # it has text that is not listed
                context = None
            return {
                "action": numbers[arms[place]],
                "reward": closed.reward,
                "pscore": closed.propensity,
                "position": 0,
                "context": context,
                "action_dist": list(shares.values()),
                "decision_id": closed.id,
            }

        return _join_lines(map(make, self._list_scored()))

    def _list_scored(self) -> Iterator[_Scored]:
        """List closed decisions with the propensities of the policy.

        Where a caller chose, those of other arms are not known and are 0.
        """
        for closed, decided in self._list_closed():
            if closed.reward is None or closed.propensity is None or decided is None:
                continue
            written = decided.arms or self._fold.held[decided.bounds]
            arms = [decode_level_list(arm) for arm in written]
            propensities = msgspec.json.decode(decided.propensities, type=list[float])
            played = decode_level_list(closed.arm or ())
            if played not in arms:
                arms, propensities = [*arms, played], [*propensities, 0.0]
            place = arms.index(played)
            if closed.other:
                propensities = [0.0] * len(arms)
            propensities[place] = closed.propensity
            yield _Scored(closed, arms, propensities, place)


class LogColumns:
    """The columns of a log: context, treatments, reward, what was observed, and our own.

    A name that a variable has already, in whatever case, gets ``boundit_`` or ``observed_``
    before it: readers of Parquet and of databases take ``Age`` and ``age`` for one. ``given``
    says whether users named context, treatments and outcome: those keep their names.
    """

    def __init__(
        self,
        context: Sequence[str],
        treatments: Sequence[str],
        reward: str,
        observed: Sequence[str],
        given: Sequence[bool],
    ) -> None:
        taken = {ADAPTIVE_COLUMN}
        parts = [list(context), list(treatments), [reward]]
        for part, _ in sorted(zip(parts, given, strict=True), key=lambda pair: not pair[1]):
            part[:] = [_choose_name(name, "boundit_", taken) for name in part]
        self._n_context, self._n_arm, self._observed = *map(len, parts[:2]), observed
        [self.reward] = parts[2]
        others = taken | set(_OURS)
        seen = [_choose_name(name, "observed_", others) for name in observed]
        taken |= others - set(_OURS)
        ours = [_choose_name(name, "boundit_", taken) for name in _OURS]
        self.propensity = ours[2]
        self.names = [*parts[0], *parts[1], self.reward, *seen, *ours, ADAPTIVE_COLUMN]

    def list_values(self, closed: Closed) -> list[Any]:
        """List the values of one row in the order of the columns."""
        context = [write_value(one) for one in decode_level_list(closed.context)]
        arm = [write_value(one) for one in decode_level_list(closed.arm or ())]
        observed = closed.observed or {}
        return [
            *context,
            *[None] * (self._n_context - len(context)),
            *arm,
            *[None] * (self._n_arm - len(arm)),
            closed.reward,
            *(observed.get(name) for name in self._observed),
            closed.id,
            to_datetime(closed.at).isoformat(),
            closed.propensity,
            1,
        ]


def _number(what: str, n: int) -> list[str]:
    return [f"{what}_{i}" for i in range(n)]


def _choose_name(name: str, before: str, taken: set[str]) -> str:
    """Choose the name of a column that no other has, and note it as taken.

    >>> _choose_name("age", "observed_", {"age", "observed_age"})
    'observed_age_'
    """
    found = name
    if found.casefold() in taken:
        found = f"{before}{name}"
    while found.casefold() in taken:
        found += "_"
    taken.add(found.casefold())
    return found


def _join_lines(records: Iterable[object]) -> Iterator[bytes]:
    """Write records as JSON lines, many at once."""
    piece = bytearray()
    for record in records:
        piece += write_body(record)
        piece += b"\n"
        if len(piece) > _CHUNK:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _number_values(
    rows: Iterable[Sequence[Any]], types: Sequence[set[type]]
) -> Iterator[dict[str, Any]]:
    """Name values by the numbers of their columns, and note the types of each column.

    A whole number that does not fit such a column is text.
    """
    for values in rows:
        for value, found in zip(values, types, strict=True):
            if value is not None:
                is_large = type(value) is int and not -(2**63) <= value < 2**63
                found.add(str if is_large else type(value))
        yield {f"c{i}": value for i, value in enumerate(values)}


def _find_type(kinds: set[type]) -> str:
    """Find the type of a column that has values of some types; text where they differ.

    >>> _find_type({int}), _find_type({int, float}), _find_type({int, str}), _find_type(set())
    ('BIGINT', 'DOUBLE', 'VARCHAR', 'VARCHAR')
    """
    if kinds == {int, float}:
        return "DOUBLE"
    return _TYPES.get(next(iter(kinds)), "VARCHAR") if len(kinds) == 1 else "VARCHAR"


def _name_features(values: Any) -> dict[str, Any]:
    """Name values for Vowpal Wabbit, which takes text and numbers.

    A number that stands for a level is text there: 3 is not three times 1.
    """
    pairs = values.items() if isinstance(values, dict) else enumerate(values)
    return {str(name): str(value) for name, value in pairs if value is not None}

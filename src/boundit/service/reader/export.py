"""The service's log for others: one row a closed decision, as boundit, VW and obp read them.

Every row has the column ``boundit_adaptive``, by which ``read_log`` knows that a policy learned
while it wrote.
"""

import csv
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from boundit.bandit.features import FeatureEncoding
from boundit.core.errors import BounditError, shorten
from boundit.core.names import ADAPTIVE_COLUMN
from boundit.results.bound import Arm
from boundit.service.errors import NoSuchPolicy, Unprocessable
from boundit.service.events import (
    CLOSED,
    Closed,
    Decided,
    read_closed,
    read_decided,
    write_body,
)
from boundit.service.fold import Fold
from boundit.service.load import load_fold
from boundit.service.moments import to_datetime
from boundit.service.store.store import Head, Store
from boundit.service.values import decode_level_list, write_value

Format: TypeAlias = Literal["csv", "jsonl", "parquet", "dsjson", "obp"]
FORMATS: tuple[Format, ...] = get_args(Format)
_AT_ONCE = 1000
_OURS = ("decision_id", "decided_at", "propensity")
_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
_CHUNK = 2**16


class ClosedRow(NamedTuple):
    """A closed decision, with the event that made it where a format needs that."""

    closed: Closed
    decided: Decided | None


def export_log(store: Store, name: str, form: str) -> Iterator[bytes]:
    """Write the closed decisions of a policy in a format, piece by piece.

    Errors are raised before the first piece.
    """
    if form not in FORMATS:
        reason = f"there is no format {shorten(repr(form), 40)}; there are {', '.join(FORMATS)}"
        raise Unprocessable(reason, where="$.format")
    with store.read() as transaction:
        head = transaction.get_head(name)
        if head is None:
            raise NoSuchPolicy(name)
        fold = load_fold(transaction, head)
    writers: Mapping[str, Callable[[Store, Head, Fold], Iterator[bytes]]] = {
        "csv": _write_csv,
        "jsonl": _write_json_lines,
        "parquet": _write_parquet,
        "dsjson": _write_dsjson,
        "obp": _write_obp,
    }
    return writers[form](store, head, fold)


class LogColumns:
    """The columns of a log: context, treatments, reward, what was observed, and our own.

    A name that a variable has already, in whatever case, gets ``boundit_`` or ``observed_``
    before it: readers of Parquet and of databases take ``Age`` and ``age`` for one.
    """

    def __init__(self, store: Store, head: Head, fold: Fold) -> None:
        n_context, n_arm, seen = _measure(store, head)
        names = fold.names
        taken = {ADAPTIVE_COLUMN}
        outcome = None if names.outcome is None else [names.outcome]
        # What users named keeps its name where it can, so it comes first.
        given = [
            _choose_names(each, taken) for each in (names.context, names.treatments, outcome)
        ]
        rest = _number("context", n_context), _number("arm", n_arm), ["reward"]
        self.context, self.treatments, (self.reward,) = [
            one or _choose_names(other, taken) for one, other in zip(given, rest, strict=True)
        ]
        others = taken | set(_OURS)
        self.observed = {name: _choose_name(name, "observed_", others) for name in sorted(seen)}
        taken |= others - set(_OURS)
        self.ours = _choose_names(_OURS, taken)

    @property
    def names(self) -> list[str]:
        """All columns in order; read by the writers of rows."""
        own = [*self.context, *self.treatments, self.reward]
        return [*own, *self.observed.values(), *self.ours, ADAPTIVE_COLUMN]

    def list_values(self, closed: Closed) -> list[Any]:
        """List the values of one row in the order of the columns; called for every row."""
        context = [write_value(one) for one in decode_level_list(closed.context)]
        arm = [write_value(one) for one in decode_level_list(closed.arm or ())]
        observed = closed.observed or {}
        return [
            *_pad(context, len(self.context)),
            *_pad(arm, len(self.treatments)),
            closed.reward,
            *(observed.get(name) for name in self.observed),
            closed.id,
            to_datetime(closed.at).isoformat(),
            closed.propensity,
            1,
        ]


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


def _choose_names(names: Sequence[str] | None, taken: set[str]) -> list[str]:
    """Choose names of columns, none for nobody's; called by ``LogColumns.__init__``."""
    return [_choose_name(name, "boundit_", taken) for name in names or ()]


def _number(what: str, n: int) -> list[str]:
    """Number columns that nobody named; called by ``LogColumns.__init__``."""
    return [f"{what}_{i}" for i in range(n)]


def _measure(store: Store, head: Head) -> tuple[int, int, set[str]]:
    """Find how many values contexts and arms have at most, and what was ever observed."""
    n_context, n_arm, seen = 0, 0, set[str]()
    for closed, _ in _list_rows(store, head):
        n_context = max(n_context, len(closed.context))
        n_arm = max(n_arm, len(closed.arm or ()))
        seen.update(closed.observed or ())
    return n_context, n_arm, seen


def _pad(values: list[Any], n: int) -> list[Any]:
    """Give values up to a number of columns, none for the rest; called by ``LogColumns``."""
    return [*values, *[None] * (n - len(values))]


def _list_rows(store: Store, head: Head, *, decided: bool = False) -> Iterator[ClosedRow]:
    """List the closed decisions whose arm is known, in the order they were closed."""
    position = 0
    while True:
        # A transaction for each: others must not wait until the last row is written.
        with store.read() as transaction:
            rows = transaction.list_events(head.id, position, _AT_ONCE, (CLOSED,))
            rows = [row for row in rows if row.position <= head.head]
            found = [read_closed(row.body) for row in rows]
            events = {}
            if decided:
                events = transaction.get_events(head.id, [one.decision for one in found])
        if not rows:
            return
        position = rows[-1].position
        for one in found:
            if one.arm is not None:
                event = events.get(one.decision)
                yield ClosedRow(one, None if event is None else read_decided(event.body))


def _write_csv(store: Store, head: Head, fold: Fold) -> Iterator[bytes]:
    """Write rows as CSV, a missing value as nothing; called by ``export_log``."""
    columns = LogColumns(store, head, fold)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(columns.names)
    for closed, _ in _list_rows(store, head):
        lines.writerow(columns.list_values(closed))
        if text.tell() > _CHUNK:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _write_json_lines(store: Store, head: Head, fold: Fold) -> Iterator[bytes]:
    """Write rows as JSON objects, one a line; called by ``export_log``."""
    columns = LogColumns(store, head, fold)
    names = columns.names
    yield from _join_lines(
        dict(zip(names, columns.list_values(closed), strict=True))
        for closed, _ in _list_rows(store, head)
    )


def _join_lines(records: Iterable[object]) -> Iterator[bytes]:
    """Write records as JSON lines, many at once; called by the writers of lines."""
    piece = bytearray()
    for record in records:
        piece += write_body(record)
        piece += b"\n"
        if len(piece) > _CHUNK:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _write_parquet(store: Store, head: Head, fold: Fold) -> Iterator[bytes]:
    """Write rows as a Parquet file with typed columns; called by ``export_log``."""
    columns = LogColumns(store, head, fold)
    types = dict[str, set[type]]()
    for closed, _ in _list_rows(store, head):
        for name, value in zip(columns.names, columns.list_values(closed), strict=True):
            if value is not None:
                types.setdefault(name, set()).add(_find_kind(value))
    kinds = {name: _find_type(types.get(name, set())) for name in columns.names}
    kinds[columns.reward] = kinds[columns.ours[2]] = "DOUBLE"
    with tempfile.TemporaryDirectory() as folder:
        lines, file = Path(folder) / "rows.json", Path(folder) / "rows.parquet"
        # Columns are numbered on the way: names may be anything.
        numbered = {f"c{i}": kind for i, kind in enumerate(kinds.values())}
        with lines.open("wb") as rows:
            rows.writelines(_join_lines(_list_numbered(store, head, columns)))
        import duckdb  # noqa: PLC0415, 30 MB that a server needs for this alone

        with duckdb.connect() as connection:
            read = connection.read_json(
                str(lines), columns=numbered, format="newline_delimited"
            )
            named = [_quote(i, name) for i, name in enumerate(columns.names)]
            read.project(", ".join(named)).write_parquet(str(file))
        with file.open("rb") as found:
            while piece := found.read(_CHUNK):
                yield piece


def _list_numbered(store: Store, head: Head, columns: LogColumns) -> Iterator[object]:
    """List rows by the numbers of their columns; called by ``_write_parquet``."""
    for closed, _ in _list_rows(store, head):
        yield {f"c{i}": value for i, value in enumerate(columns.list_values(closed))}


def _quote(number: int, name: str) -> str:
    """Write SQL that gives a numbered column its name; called by ``_write_parquet``."""
    quoted = name.replace('"', '""')
    return f'c{number} AS "{quoted}"'


def _find_kind(value: object) -> type:
    """Find the type of a value; of a whole number that no column of such has room for, text."""
    is_large = type(value) is int and not -(2**63) <= value < 2**63
    return str if is_large else type(value)


def _find_type(kinds: set[type]) -> str:
    """Find the type of a column that has values of some types; text where they differ.

    >>> _find_type({int}), _find_type({int, float}), _find_type({int, str}), _find_type(set())
    ('BIGINT', 'DOUBLE', 'VARCHAR', 'VARCHAR')
    """
    if kinds == {int, float}:
        return "DOUBLE"
    return _TYPES.get(next(iter(kinds)), "VARCHAR") if len(kinds) == 1 else "VARCHAR"


def _write_dsjson(store: Store, head: Head, fold: Fold) -> Iterator[bytes]:
    """Write decisions as Vowpal Wabbit's dsjson: the arm played first, costs are negative.

    Those without a reward or a propensity teach it nothing and are left out.
    """

    def write_all() -> Iterator[object]:
        for closed, arms, chances, place in _list_scored(store, head, fold):
            others = [i for i in range(len(arms)) if i != place]
            order = [place, *others]
            shared = fold.names.write_context(decode_level_list(closed.context))
            yield {
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
                    "_multi": [
                        {"arm": _name_features(fold.names.write_arm(arm))} for arm in arms
                    ],
                },
                "p": [closed.propensity, *(chances[i] for i in others)],
                "VWState": {"m": "boundit"},
            }

    return _join_lines(write_all())


def _name_features(values: Any) -> dict[str, Any]:
    """Name values for Vowpal Wabbit, which takes text and numbers; called by ``_write_dsjson``.

    A number that stands for a level is text there: 3 is no three times 1.
    """
    pairs = values.items() if isinstance(values, dict) else enumerate(values)
    return {str(name): str(value) for name, value in pairs if value is not None}


def _write_obp(store: Store, head: Head, fold: Fold) -> Iterator[bytes]:
    """Write decisions by the names of obp's bandit feedback, one JSON object a line.

    Actions are numbered in the order in which arms were first held; contexts are numbers, text
    one-hot. Those without a reward or a propensity are left out.
    """
    numbers = dict[Arm, int]()
    for version in sorted(fold.held):
        for arm in fold.held[version]:
            numbers.setdefault(decode_level_list(arm), len(numbers))
    spec = fold.policy.spec
    encoding = FeatureEncoding.of(spec)

    def write_all() -> Iterator[object]:
        for closed, arms, chances, place in _list_scored(store, head, fold):
            for arm in arms:
                numbers.setdefault(arm, len(numbers))
            shares = [0.0] * len(numbers)
            for arm, chance in zip(arms, chances, strict=True):
                shares[numbers[arm]] = chance
            values = decode_level_list(closed.context)
            yield {
                "action": numbers[arms[place]],
                "reward": closed.reward,
                "pscore": closed.propensity,
                "position": 0,
                "context": _encode_context(encoding, values, arms[place]),
                "action_dist": shares,
                "decision_id": closed.id,
            }

    return _join_lines(write_all())


def _encode_context(
    encoding: FeatureEncoding, values: Sequence[object], arm: Arm
) -> list[float] | None:
    """Write a context as numbers, None where it has text that nobody listed."""
    try:
        return encoding.encode_context(tuple(values), arm)
    except BounditError:
        return None


def _list_scored(
    store: Store, head: Head, fold: Fold
) -> Iterator[tuple[Closed, list[Arm], list[float], int]]:
    """List closed decisions with arms, their chances, and the place of the arm played.

    The chances are those of the policy; where a caller chose, those of other arms are not known
    and are 0.
    """
    for closed, decided in _list_rows(store, head, decided=True):
        if closed.reward is None or closed.propensity is None or decided is None:
            continue
        written = fold.find_arms(decided.bounds) if decided.arms is None else decided.arms
        arms = [decode_level_list(arm) for arm in written]
        chances = msgspec.json.decode(decided.chances, type=list[float])
        played = decode_level_list(closed.arm or ())
        if played not in arms:
            arms, chances = [*arms, played], [*chances, 0.0]
        place = arms.index(played)
        if closed.other:
            chances = [0.0] * len(arms)
        chances[place] = closed.propensity
        yield closed, arms, chances, place

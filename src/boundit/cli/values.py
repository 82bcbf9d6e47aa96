"""Arms, contexts, policies and shares on the command line: text, or rows of a file."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boundit.cli.options import is_path
from boundit.core.errors import UnreadableFile, shorten

if TYPE_CHECKING:
    from boundit.results.bound import Arm, Context
    from boundit.results.bound_table import BoundTable
    from boundit.results.choice import Choice

_READ_AS = {"yes": "true", "no": "false"}
PROBABILITY, SHARE = "probability", "share"
"""The columns of a file with the probability of an arm, or the share of a context."""


def read_values(
    text: str, table: "BoundTable", names: Sequence[str], *, where: str = ""
) -> tuple[object, ...]:
    """Read values of some variables from text: ``A``, ``A,1`` or ``X=A,Z=1``.

    Values keep the type that they have in the log. ``where`` is a file that the text is from.
    """
    if not names:
        return ()
    parts = [text] if len(names) == 1 else text.split(",")
    named = {
        name: value
        for name, mark, value in (part.strip().partition("=") for part in parts)
        if mark and name in names
    }
    if named.keys() == set(names):
        parts = [named[name] for name in names]
    if len(parts) != len(names):
        place = f" in {where!r}" if where else ""
        raise click.UsageError(
            f"{text!r}{place} needs a value for each of {', '.join(names)}, as in 'A,1'."
        )
    pairs = zip(names, parts, strict=True)
    return tuple(_find_level(table, name, part.strip(), where) for name, part in pairs)


def read_arm(text: str, table: "BoundTable") -> "Arm":
    """Read an arm."""
    return read_values(text, table, table.treatments)


def _find_level(table: "BoundTable", name: str, text: str, where: str) -> object:
    """Find the value of a variable that a text stands for.

    Files with ``yes`` and ``no`` are read as true and false.
    """
    asked = {text.casefold()}
    asked |= {_READ_AS[text.casefold()]} if text.casefold() in _READ_AS else set()
    for level in table.levels[name]:
        if str(level).casefold() in asked:
            return level
    known = shorten(", ".join(map(str, table.levels[name])))
    place = f" in {where!r}" if where else ""
    raise click.UsageError(f"{name} has no value {text!r}{place}. It has {known}.")


def read_policy(text: str, table: "BoundTable") -> object:
    """Read a policy: ``log``, ``choice``, a measured mean, a file, or an arm.

    A file is a saved policy (JSON), or rows of contexts and arms, with a column
    ``probability`` where an arm is not always chosen (CSV, or JSON); in JSON also an object from
    contexts to arms. A measured mean is a number, ``+-`` its error, and ``@`` the confidence
    of that.
    """
    if text == "log":
        from boundit.decisions.policies import LOGGED  # noqa: PLC0415, keeps --help quick

        return LOGGED
    if text == "choice":
        return table.choose()
    if not is_path(text):
        return _read_measured(text) if "+-" in text else read_arm(text, table)
    found = _read_file(text)
    if isinstance(found, dict) and found.get("format") == "boundit policy":
        from boundit.bandit.policy import Policy  # noqa: PLC0415, keeps --help quick

        return Policy.from_state(found)
    if isinstance(found, list):
        read: dict[Context, dict[Arm, float]] = {}
        for row in found:
            arms = read.setdefault(_pick(row, table, table.context, text), {})
            arm = _pick(row, table, table.treatments, text)
            arms[arm] = arms.get(arm, 0.0) + _read_number(row.get(PROBABILITY, 1.0), text)
        return read
    if isinstance(found, dict):
        return {
            read_values(str(key), table, table.context, where=text): _read_drawn(
                of, table, text
            )
            for key, of in found.items()
        }
    raise click.UsageError(f"{text!r} has no policy. Write rows, or contexts and their arms.")


def _read_measured(text: str) -> object:
    """Read a measured mean with its error, as in ``0.33+-0.02@0.99``."""
    from boundit.decisions.policies import Measured  # noqa: PLC0415, keeps --help quick

    value, _, rest = text.partition("+-")
    error, _, confidence = rest.partition("@")
    try:
        mean, spread = float(value), float(error)
        sure = float(confidence) if confidence else None
    except ValueError:
        raise click.UsageError(
            f"{text!r} is not a measured mean. Write 0.33+-0.02, or with the confidence of its "
            "error 0.33+-0.02@0.99."
        ) from None
    return Measured(mean - spread, mean + spread, confidence=sure)


def _read_drawn(value: object, table: "BoundTable", path: str) -> object:
    """Read what a JSON object says of one context: an arm, or probabilities of arms."""
    names = table.treatments
    if isinstance(value, dict):
        return {read_values(str(a), table, names, where=path): p for a, p in value.items()}
    if isinstance(value, list):
        value = ",".join(map(str, value))
    return read_values(str(value), table, names, where=path)


def read_shares(text: str, table: "BoundTable") -> Any:
    """Read shares of contexts: ``any``, ``log``, ``old=0.3,young=0.7``, a file, or a log.

    A file with a column ``share`` is a table of shares, and so is a JSON object; other files
    are logs of units.
    """
    if text in {"any", "log"}:
        return text
    if not is_path(text):
        pairs = [part.rpartition("=") for part in text.split(",")]
        if len(table.context) == 1 and all(mark for _, mark, _ in pairs):
            return {
                read_values(value.strip(), table, table.context): _read_number(share, text)
                for value, _, share in pairs
            }
        raise click.UsageError(
            f"--shares {text} is not a file. Write 'any', a CSV file with the columns "
            f"{', '.join((*table.context, SHARE))}, or VALUE=SHARE,... for one variable."
        )
    if Path(text).suffix.lower() in {".csv", ".json"}:
        found = _read_file(text)
        if isinstance(found, dict):
            return {
                read_values(str(key), table, table.context, where=text): _read_number(of, text)
                for key, of in found.items()
            }
        if found and all(SHARE in row for row in found):
            shares = dict[object, float]()
            for row in found:
                where = _pick(row, table, table.context, text)
                shares[where] = shares.get(where, 0.0) + _read_number(row[SHARE], text)
            return shares
    from boundit.counts.log import read_log  # noqa: PLC0415, keeps --help quick

    opened = read_log(text)
    bins = {n: e for n, e in table.bins.items() if n in opened.columns and n in table.context}
    return read_log(text, bins=bins) if bins else opened


def read_costs(texts: tuple[str, ...], table: "BoundTable") -> dict[object, float] | None:
    """Read ``--cost ARM=COST``, repeated."""
    found = dict[object, float]()
    for text in texts:
        arm, _, cost = text.rpartition("=")
        try:
            found[read_arm(arm, table)] = float(cost)
        except ValueError:
            message = f"--cost {text!r} has no number. Write it as ARM=COST, as in 'B=0.1'."
            raise click.UsageError(message) from None
    return found or None


def write_policy(choice: "Choice", path: Path) -> None:
    """Write a choice as a file that ``read_policy`` reads: contexts, arms and probabilities."""
    from boundit.core.files import write_whole  # noqa: PLC0415, keeps --help quick

    names = (*choice.context, *choice.treatments, PROBABILITY)
    rows = [
        dict(zip(names, (*where, *arm, share), strict=True))
        for where, found in choice.choices.items()
        for arm, share in found.probabilities.items()
    ]
    if path.suffix.lower() == ".json":
        write_whole(path, (json.dumps(rows, indent=1, default=str) + "\n").encode())
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())


def _read_file(path: str) -> Any:
    """Read a JSON file, or the rows of a CSV file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        if Path(path).suffix.lower() == ".json":
            return json.loads(text)
        return list(csv.DictReader(text.splitlines()))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, shorten(str(error))) from None


def _pick(
    row: Mapping[str, object], table: "BoundTable", names: Sequence[str], path: str
) -> tuple[object, ...]:
    """Pick the values of some variables from a row of a file."""
    for name in names:
        if row.get(name) is None:
            raise click.UsageError(f"{path!r} has a row without {name!r}. Add the column.")
    return tuple(_find_level(table, name, str(row[name]).strip(), path) for name in names)


def _read_number(value: object, path: str) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise click.UsageError(
            f"{path!r} has {value!r} where a number is needed. Write one such as 0.3."
        ) from None

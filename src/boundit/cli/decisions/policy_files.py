"""Policies and shares of contexts on the command line: text, or rows of a file."""

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

PROBABILITY, SHARE = "probability", "share"
"""The columns of a file with the probability of an arm, or the share of a context."""


def read_policy(text: str, table: "BoundTable") -> object:
    """Read a policy: ``log``, ``choice``, a measured value, a file, or an arm's levels.

    A file is a saved policy (JSON), or rows of contexts and arms, with a column
    ``probability`` where an arm is not always chosen (CSV, or JSON); in JSON also an object from
    contexts to arms. A measured value is its number, ``+-`` its error, and ``@`` the confidence
    of that.
    """
    if text == "log":
        from boundit.decisions.policies import LOGGED  # noqa: PLC0415, as above

        return LOGGED
    if text == "choice":
        return table.choose()
    if "+-" in text and not is_path(text):
        return _read_measured(text)
    if not is_path(text):
        return read_arm(text, table)
    found = _read_file(text)
    if isinstance(found, dict) and found.get("format") == "boundit policy":
        from boundit.bandit.policy import Policy  # noqa: PLC0415, keeps --help quick

        return Policy.from_state(found)
    if isinstance(found, list):
        return _read_policy_rows(found, table, text)
    if isinstance(found, dict):
        return {
            _read_values(str(key), table, table.context, text): _read_choice(value, table, text)
            for key, value in found.items()
        }
    raise click.UsageError(f"{text!r} holds no policy; write rows, or contexts and their arms")


def read_shares(text: str, table: "BoundTable") -> object:
    """Read how common contexts are: ``any``, ``log``, shares in a file, or a log of units.

    A file with a column ``share`` is a table of shares, and so is a JSON object; other files
    are logs.
    """
    if text in {"any", "log"}:
        return text
    if Path(text).suffix.lower() in {".csv", ".json"} and is_path(text):
        shares = _read_share_file(_read_file(text), table, text)
        if shares is not None:
            return shares
    from boundit.counts.log import read_log  # noqa: PLC0415, keeps --help quick

    opened = read_log(text)
    bins = {n: e for n, e in table.bins.items() if n in opened.columns and n in table.context}
    return read_log(text, bins=bins) if bins else opened


def _read_measured(text: str) -> object:
    """Read a measured value with its error, as in ``0.33+-0.02@0.99``."""
    from boundit.decisions.policies import Measured  # noqa: PLC0415, keeps --help quick

    value, _, rest = text.partition("+-")
    error, _, confidence = rest.partition("@")
    try:
        numbers = float(value), float(error)
        chance = float(confidence) if confidence else None
    except ValueError:
        raise click.UsageError(
            f"{text!r} is no measured value; write it as 0.33+-0.02, or with the confidence of "
            "its error as 0.33+-0.02@0.99"
        ) from None
    return Measured(numbers[0] - numbers[1], numbers[0] + numbers[1], confidence=chance)


def _read_share_file(
    found: Any, table: "BoundTable", path: str
) -> "dict[Context, float] | None":
    """Read a table of shares; None where the file is a log instead."""
    if isinstance(found, dict):
        return {
            _read_values(str(key), table, table.context, path): _read_number(share, path)
            for key, share in found.items()
        }
    if not found or not all(SHARE in row for row in found):
        return None
    return {
        _pick(row, table, table.context, path): _read_number(row[SHARE], path) for row in found
    }


def _read_file(path: str) -> Any:
    """Read a JSON file, or the rows of a CSV file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        if Path(path).suffix.lower() == ".json":
            return json.loads(text)
        return list(csv.DictReader(text.splitlines()))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, shorten(str(error))) from None


def _read_policy_rows(
    rows: Sequence[Mapping[str, object]], table: "BoundTable", path: str
) -> object:
    """Read rows of contexts and arms, with a probability or not, as a policy."""
    found: dict[Context, dict[Arm, float]] = {}
    for row in rows:
        where = _pick(row, table, table.context, path)
        arm = _pick(row, table, table.treatments, path)
        share = _read_number(row[PROBABILITY], path) if PROBABILITY in row else 1.0
        arms = found.setdefault(where, {})
        arms[arm] = arms.get(arm, 0.0) + share
    return found


def _read_choice(value: object, table: "BoundTable", path: str) -> object:
    """Read what a JSON object says of one context: an arm, or probabilities of arms."""
    if isinstance(value, dict):
        return {
            _read_values(str(arm), table, table.treatments, path): share
            for arm, share in value.items()
        }
    if isinstance(value, list):
        value = ",".join(map(str, value))
    return _read_values(str(value), table, table.treatments, path)


def read_arm(text: str, table: "BoundTable") -> "Arm":
    """Read an arm from an argument."""
    return _read_values(text, table, table.treatments, "")


def _read_values(
    text: str, table: "BoundTable", names: tuple[str, ...], path: str
) -> tuple[object, ...]:
    """Read levels of some variables from text, ``A`` or ``A,1`` or ``X=A,Z=1``."""
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
        where = f" in {path!r}" if path else ""
        raise click.UsageError(
            f"{text!r}{where} must have a value for each of {', '.join(names)}, as in 'A,1'"
        )
    pairs = zip(names, parts, strict=True)
    return tuple(_find_level(table, name, part.strip(), path) for name, part in pairs)


def _pick(
    row: Mapping[str, object], table: "BoundTable", names: tuple[str, ...], path: str
) -> tuple[object, ...]:
    """Pick the levels of some variables from a row of a file, or refuse the row."""
    for name in names:
        if row.get(name) is None:
            raise click.UsageError(f"{path!r} has a row without {name!r}")
    return tuple(_find_level(table, name, str(row[name]).strip(), path) for name in names)


def _find_level(table: "BoundTable", name: str, text: str, path: str) -> object:
    """Find the level of a variable that a text stands for; levels keep the log's type."""
    for level in table.levels[name]:
        if str(level).casefold() == text.casefold():
            return level
    known = shorten(", ".join(map(str, table.levels[name])))
    hint = "" if path else "; a policy is an arm, a file, 'choice', 'log' or 0.33+-0.02"
    where = f" in {path!r}" if path else ""
    raise click.UsageError(f"{name} has no level {text!r}{where}, it has {known}{hint}")


def _read_number(value: object, path: str) -> float:
    """Read a probability or a share of a file."""
    try:
        return float(str(value))
    except ValueError:
        raise click.UsageError(f"{path!r} has {value!r} where a number is needed") from None


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

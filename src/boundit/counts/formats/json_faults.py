"""What is wrong with JSON lines that an engine gave up on: the line, in words of ours."""

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

from boundit.counts.formats.text_lines import MOST_LINES, read_lines
from boundit.terms.errors import shorten

DEEPEST = 127
"""Lists and objects within each other; an engine takes no more."""
_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


class _TwiceNamed(ValueError):
    """An object that has a key twice."""

    def __init__(self, key: str) -> None:
        self.key = key


def find_json_fault(path: str, lines: int = MOST_LINES) -> str | None:
    """Find the first line that is no object of JSON, and say why; None where all are.

    Called by ``FileSource._explain_json_error`` once DuckDB gave up.
    """
    return read_lines(path, _find_bad_line, lines)


def find_two_kinds(path: str, column: str, lines: int = MOST_LINES) -> str | None:
    """Find the first line in which a column holds another kind of value than before.

    Called by ``FileSource._refuse_mixed`` for a column that has no type.
    """
    return read_lines(path, lambda texts: _compare_kinds(texts, column), lines)


def _find_bad_line(texts: Iterator[str]) -> str | None:
    """Find the first of some lines that is no object of JSON. Called by ``find_json_fault``."""
    for i, text in enumerate(texts, 1):
        if text.strip() and (problem := _judge_line(text)):
            return f"line {i:,} {problem}"
    return None


def _judge_line(text: str) -> str | None:
    """Say what is wrong with a line, if anything is. Called by ``_find_bad_line``."""
    if text.startswith("\ufeff"):
        return "begins with a byte order mark; save the file as UTF-8 without one"
    deep = "is nested too deeply; a log's line is a flat object"
    try:
        found = json.loads(text.rstrip("\r\n"), object_pairs_hook=_read_pairs)
    except _TwiceNamed as error:
        return f"has the key {shorten(error.key, 40)!r} twice"
    except json.JSONDecodeError as error:
        return f"is no JSON: {error.msg} at character {error.colno:,}"
    except RecursionError:
        return deep
    if not isinstance(found, dict):
        return f"holds {_name_kind(found)}; every line is an object, such as {_EXAMPLE}"
    if _measure_depth(text) > DEEPEST:
        return deep
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "holds half a character, a surrogate that stands alone"
    return None


_EXAMPLE = '{"Age": 30, "Click": 1}'


def _compare_kinds(texts: Iterator[str], column: str) -> str | None:
    """Find two lines in which a column holds values of two kinds.

    Called by ``find_two_kinds``.
    """
    first: tuple[int, str] | None = None
    for i, text in enumerate(texts, 1):
        value = json.loads(text).get(column) if text.strip() else None
        if value is None or (isinstance(value, float) and not isfinite(value)):
            continue
        kind = _name_kind(value)
        if first is None:
            first = i, kind
        elif kind != first[1]:
            shown = shorten(json.dumps(value, ensure_ascii=False), 40)
            where = f"line {first[0]:,} has {first[1]}"
            return f"{column!r} is {kind} in line {i:,}, {shown}, and {where}; give it one type"
    return None


def _read_pairs(pairs: Iterable[tuple[str, object]]) -> Mapping[str, object]:
    """Make an object of its keys and values; raise where a key comes twice.

    Called by ``_judge_line`` through the parser.
    """
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceNamed(key)
        found[key] = value
    return found


def _name_kind(value: object) -> str:
    """Name what kind of value JSON has there.

    Called by ``_judge_line`` and ``_compare_kinds``.
    """
    return _KINDS.get(type(value), "null")


def _measure_depth(text: str) -> int:
    """Measure how deeply lists and objects of a line are nested, the outermost being 1.

    Called by ``_judge_line``.
    """
    depth = deepest = 0
    inside = escaped = False
    for mark in text:
        if inside:
            inside, escaped = mark != '"' or escaped, mark == "\\" and not escaped
        elif mark == '"':
            inside = True
        elif mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest

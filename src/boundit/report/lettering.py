"""Words on drawings and in tables: how wide they are, where they break, how values are spelled."""

from collections.abc import Iterable, Sequence
from unicodedata import combining, east_asian_width

from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

_NARROW, _BROAD = frozenset("iljtfrI.,:;|!'()[] "), frozenset("mwMW@%&—")


def format_level(value: object) -> str:
    r"""Write a level of a variable for people; what cannot be printed is escaped.

    >>> format_level("new\n"), format_level(0), format_level("")
    ('new\\n', '0', "''")
    """
    text = str(value)
    if not text.strip():
        return repr(text)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def label_values(names: Sequence[str], values: Sequence[object]) -> str:
    """Write an arm or a context as ``X=1, W=0``; one variable alone needs no name.

    >>> label_values(("X1", "X2"), (0, 1)), label_values(("Ad",), ("B",)), label_values((), ())
    ('X1=0, X2=1', 'B', 'everyone')
    """
    if len(names) == 1:
        return format_level(values[0])
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{format_level(n)}={format_level(v)}" for n, v in pairs) or "everyone"


def name_contexts(table: BoundTable, contexts: Sequence[Context]) -> list[str]:
    """Name contexts by the variables that differ between the table's contexts.

    >>> rows = [{"X": 0, "U": u, "V": 1, "lower": 0.1, "upper": 0.2} for u in (0, 1)]
    >>> names = {"outcome": "Y", "treatments": ["X"], "context": ["U", "V"]}
    >>> table = BoundTable.from_rows(rows, outcome_range=(0, 1), **names)
    >>> name_contexts(table, table.contexts)
    ['U=0', 'U=1']
    """
    columns = list(zip(*table.contexts, strict=True))
    varying = [i for i, column in enumerate(columns) if len(set(column)) > 1]
    kept = varying or range(len(columns))
    return [
        ", ".join(f"{format_level(table.context[i])}={format_level(one[i])}" for i in kept)
        for one in contexts
    ]


def estimate_width(text: str, size: float) -> float:
    """Estimate how wide text runs in a sans-serif face, rather too much than too little."""
    return size * sum(map(_estimate_advance, text))


def _estimate_advance(char: str) -> float:
    """Estimate how wide one letter is, as a share of the font size."""
    if combining(char):
        return 0.0
    if east_asian_width(char) in "WF":
        return 1.05
    if char in _NARROW:
        return 0.42
    return 1.0 if char in _BROAD else 0.72 if char.isupper() else 0.66


def wrap_words(text: str, width: float, size: float) -> tuple[str, ...]:
    """Break text at blanks into lines that fit; a word too wide for a line loses its middle.

    >>> wrap_words("time of day", 50, 10)
    ('time of', 'day')
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if estimate_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(cut_middle(word, width, size))
    return tuple(filter(None, lines)) or ("",)


def wrap_names(names: Iterable[str], width: float, size: float) -> dict[str, tuple[str, ...]]:
    """Break names into at most three lines each; longer ones lose their middle, and differ still.

    >>> wrap_names(["Angebot der Woche, Frühstück 12"], 90, 10)
    {'Angebot der Woche, Frühstück 12': ('Angebot der', 'Woche,', 'Frühstück 12')}
    """
    found = {name: _wrap_name(name, width, size) for name in names}
    if len(set(found.values())) == len(found):
        return found
    return {name: _wrap_name(f"{i}: {name}", width, size) for i, name in enumerate(found, 1)}


def _wrap_name(name: str, width: float, size: float) -> tuple[str, ...]:
    lines = wrap_words(name, width, size)
    if len(lines) <= 3 and not any("…" in line for line in lines):
        return lines
    return *lines[:2], *([cut_middle(" ".join(lines[2:]), width, size)] if lines[2:] else [])


def cut_middle(text: str, width: float, size: float) -> str:
    """Shorten text that would run too wide in its middle: long names often differ at their end.

    >>> cut_middle("last_purchase_2019", 90, 10)
    'last_pu…e_2019'
    """
    if estimate_width(text, size) <= width:
        return text
    for kept in range(len(text) - 1, 0, -1):
        tail = kept // 2
        short = f"{text[: kept - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"
        if estimate_width(short, size) <= width:
            return short
    return "…"


def break_label(text: str, limit: int) -> tuple[str, ...]:
    """Break the label of a node into at most two lines, at a blank or another seam.

    Its end stays, in which long names differ most often.

    >>> break_label("time of day", 8), break_label("neighborhood_income", 12)
    (('time', 'of day'), ('neighborhoo…', 'income'))
    """
    if len(text) <= limit:
        return (text,)
    seams = [i for i, c in enumerate(text) if c in " _.-" and 0 < i < len(text) - 1]
    middle = len(text) // 2
    at = min(seams, key=lambda i: abs(i - middle), default=min(limit, middle))
    head, tail = (text[: at + 1], text[at + 1 :]) if seams else (text[:at], text[at:])
    start = limit // 2
    short = tail if len(tail) <= limit else f"{tail[:start]}…{tail[start + 1 - limit :]}"
    head = head.rstrip()
    return head if len(head) <= limit else f"{head[: limit - 1].rstrip()}…", short

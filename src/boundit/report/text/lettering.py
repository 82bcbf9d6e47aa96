"""Words on drawings: how wide they are, where they break, how values are spelled."""

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

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


def cut_to_length(text: str, limit: int) -> str:
    """Shorten text that is longer than ``limit`` characters, with an ellipsis.

    >>> cut_to_length("neighbourhood", 8)
    'neighbo…'
    """
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def label_values(names: Sequence[str], values: Sequence[object]) -> str:
    """Write an arm or a context as ``X=1, W=0``; one variable alone needs no name.

    >>> label_values(("X1", "X2"), (0, 1)), label_values(("Ad",), ("B",)), label_values((), ())
    ('X1=0, X2=1', 'B', 'everyone')
    """
    if len(names) == 1:
        return format_level(values[0])
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{format_level(n)}={format_level(v)}" for n, v in pairs) or "everyone"


def estimate_width(text: str, size: float) -> float:
    """Estimate how wide text runs in a sans-serif face, rather too much than too little.

    Called wherever text must fit: ``cut_to_width``, ``_measure_node``, ``_draw_legend``.
    """
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


def break_label(text: str, limit: int) -> tuple[str, ...]:
    """Break a label into at most two lines, at a blank or another seam where there is one.

    Its end stays, in which long names differ most often.

    >>> break_label("time of day", 8), break_label("neighbourhood_income", 12)
    (('time', 'of day'), ('neighbourho…', 'income'))
    """
    if len(text) <= limit:
        return (text,)
    seams = [i for i, c in enumerate(text) if c in " _.-" and 0 < i < len(text) - 1]
    middle = len(text) // 2
    at = min(seams, key=lambda i: abs(i - middle), default=min(limit, middle))
    head, tail = (text[: at + 1], text[at + 1 :]) if seams else (text[:at], text[at:])
    start = limit // 2
    short = tail if len(tail) <= limit else f"{tail[:start]}…{tail[start + 1 - limit :]}"
    return cut_to_length(head.rstrip(), limit), short


def format_n(n: float) -> str:
    """Write how many logged rows a bound has; for an exact law, their share.

    >>> format_n(12345.0), format_n(0.03125)
    ('12,345', '0.0312')
    """
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:.3g}"

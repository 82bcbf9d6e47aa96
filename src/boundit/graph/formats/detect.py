"""The formats of graphs, told apart by how a text opens."""

import re
from typing import Literal, TypeAlias

GraphFormat: TypeAlias = Literal["text", "dot", "dagitty", "json"]
ReadFormat: TypeAlias = Literal[GraphFormat, "gml"]

# What a text opens with, after blanks and comments. A node of ours may be called "dag", but is
# never followed by a brace.
_BLANKS = r"(?:\s|\ufeff|//[^\n]*\n|\#[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*"
_SCALARS = r'(?:\w+\s+(?:"[^"]*"|[-+\w.]+)\s+)*'
_TITLE = r'\s*(?:"[^"]*"|[\w.]*)\s*\{'
_OPENINGS: tuple[tuple[ReadFormat, re.Pattern[str]], ...] = (
    ("gml", re.compile(_BLANKS + _SCALARS + r"graph\s*\[\s*\w+[\s\[]", re.IGNORECASE)),
    ("json", re.compile(r"[\s\ufeff]*\{")),
    ("dot", re.compile(_BLANKS + r"(?:strict\s+)?(?:di)?graph\b" + _TITLE, re.IGNORECASE)),
    ("dagitty", re.compile(_BLANKS + r"(?:dag|pdag|mag|pag)\b" + _TITLE, re.IGNORECASE)),
)


def detect_format(text: str) -> ReadFormat | None:
    """Tell a text's graph format by how it opens; None when it opens like none.

    >>> detect_format("dag { X -> Y }"), detect_format("X -> Y")
    ('dagitty', None)
    """
    return next((name for name, opening in _OPENINGS if opening.match(text)), None)

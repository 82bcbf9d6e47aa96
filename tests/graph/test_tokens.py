import re

import pytest

from boundit.graph.tokens import END, Tokens, unquote
from boundit.terms.errors import MalformedText

PATTERN = re.compile(r"(?P<skip>\s+)|(?P<name>\w+)|(?P<quoted>\"[^\"]*\")")


def test_tokens_remember_where_they_stood() -> None:
    tokens = Tokens('a "x\ny" b\n  c', PATTERN, hint="")
    places = []
    while tokens.now.kind != END:
        token = tokens.take()
        places.append((token.text, token.line, token.column))

    assert places == [("a", 1, 1), ('"x\ny"', 1, 3), ("b", 2, 4), ("c", 3, 3)]
    assert tokens.take().kind == tokens.take().kind == END


def test_what_the_pattern_does_not_know_is_refused_with_the_hint() -> None:
    tokens = Tokens("a b c\n ?", PATTERN, hint="use letters")
    tokens.take()

    with pytest.raises(MalformedText, match=r"line 2, column 2: cannot read '\?'; use letters"):
        tokens.take()


def test_only_quotes_and_backslashes_are_escaped() -> None:
    assert unquote(r'"a\"b\\c\n"') == r"a\"b\c\n".replace(r"\"", '"')

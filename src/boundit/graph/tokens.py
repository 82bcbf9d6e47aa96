"""Text cut into tokens that remember their line and column. All parsers read through it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from boundit.core.errors import MalformedText, shorten

END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text, what it is, and where it begins (both counted from one)."""

    kind: str
    text: str
    line: int
    column: int

    def refuse(self, reason: str) -> NoReturn:
        """Raise a syntax error that points at this token's line and column."""
        raise MalformedText(reason, line=self.line, column=self.column)

    @property
    def quotation(self) -> str:
        """The token as an error message quotes it, or "the end of the text"."""
        if self.kind == END:
            return "the end of the text"
        return "the end of the line" if self.text == "\n" else repr(shorten(self.text, 40))


class Tokens:
    """A stream of tokens: ``now`` is the one to look at, ``ahead`` the one after it.

    ``pattern`` has one named group a kind; a group named ``skip`` is passed over. What it does
    not match is refused at its line and column, with ``hint`` for what would work.
    """

    def __init__(self, text: str, pattern: re.Pattern[str], *, hint: str) -> None:
        self._rest = _split_tokens(text.removeprefix("\ufeff"), pattern, hint)
        self.now = next(self._rest)
        self.ahead = next(self._rest, self.now)

    def take(self) -> Token:
        """Return the current token and step to the one after it."""
        token, self.now = self.now, self.ahead
        self.ahead = next(self._rest, self.ahead)
        return token

    def take_if(self, kind: str, *texts: str) -> Token | None:
        """Take the current token if it is of this kind (and one of these texts), else None."""
        here = self.now.kind == kind and (not texts or self.now.text in texts)
        return self.take() if here else None

    def is_at(self, mark: str) -> bool:
        """Return whether the current token is this mark, such as ``{``, without taking it."""
        return self.now.kind == "mark" and self.now.text == mark

    def take_mark(self, mark: str) -> bool:
        """Take the current token if it is this mark, such as ``{``; return whether it was."""
        return self.take_if("mark", mark) is not None

    def expect_mark(self, mark: str, where: str = "") -> None:
        """Take this mark, such as ``}``, or raise a syntax error that says where it belongs."""
        if not self.take_mark(mark):
            self.now.refuse(f"expected {mark!r}{where}, found {self.now.quotation}")

    def expect_name(self, what: str) -> str:
        """Take a name, plain or quoted, or raise a syntax error that says what it would name."""
        if self.now.kind not in {"name", "quoted"}:
            self.now.refuse(f"expected {what}, found {self.now.quotation}")
        token = self.take()
        return unquote(token.text) if token.kind == "quoted" else token.text

    def expect_end(self, what: str) -> None:
        """Raise a syntax error if anything follows; ``what`` was expected to be all."""
        if self.now.kind != END:
            self.now.refuse(f"expected {what}, found {self.now.quotation} after it")


def unquote(text: str) -> str:
    r"""Take the quotes off a quoted name and resolve ``\"`` and ``\\``; other backslashes stay."""
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])


def _split_tokens(text: str, pattern: re.Pattern[str], hint: str) -> Iterator[Token]:
    """Cut a text into tokens by a format's pattern, or refuse what it does not match."""
    line, line_start, at = 1, 0, 0
    while at < len(text):
        found = pattern.match(text, at)
        column = at - line_start + 1
        if found is None or found.end() == at:
            reason = f"cannot read {text[at]!r}; {hint}"
            if text[at] == '"':
                reason = "this quote is never closed"
            raise MalformedText(reason, line=line, column=column)
        kind = found.lastgroup or "skip"
        if kind != "skip":
            yield Token(kind, found[0], line, column)
        at = found.end()
        if breaks := found[0].count("\n"):
            line += breaks
            line_start = found.start() + found[0].rfind("\n") + 1
    yield Token(END, "", line, at - line_start + 1)

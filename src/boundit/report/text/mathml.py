r"""Our formula text typeset as MathML, which browsers draw by themselves.

The notation is that of ``estimand/language/render.py`` and of the claims of bound tables:
``P(y | x, S=1)``, ``P*(y)``, ``E[Y | do(X=1)]``, ``Q[X, Y]``, sums ``Σ_{Z} ...``, ratios
``[...] / [...]``, and in words ``sum over Z of`` and ``min/max over Z of``. Whatever else
stands in a sentence stays as it is: formulas are cut out of the text piece by piece, and every
piece keeps the text it stands for as ``alttext``, so that nothing is lost.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import TypeAlias

from boundit.estimand.language.mathml import LONG, Piece, is_unreadable
from boundit.estimand.language.symbols import draw_item, draw_names, draw_operator

_STARTS = r"P\*?\(|E\[|Q\[|Σ_\{|\[|\(|min/max\ over|sum\ over"
_CALL = re.compile(r"(P\*?|E|Q|do)([(\[])")
_SUM = re.compile(r"Σ_\{([^{}]*)\}")
_WORDS = re.compile(rf"(min/max|sum)\ over\ (.+?)\ of(?=\ (?:{_STARTS}))")
_BETWEEN = re.compile(rf"/(?=\ (?:{_STARTS}))|x(?=\ \()")
_OPENING = re.compile(
    r"""(?<![\w.'"])(?:(?:P\*?|[EQ])(?=[(\[])|do(?=\()|(?:min/max|sum)(?=\ over\ ))
        |Σ_\{|(?<!\w)[\[(](?=P\*?\(|Q\[|Σ_|\[|\()""",
    re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]"}


Found: TypeAlias = tuple[list[Piece], int]
"""What was read, and where it ends."""


def typeset(text: str) -> str:
    """Turn a line of text into HTML with its formulas typeset.

    >>> typeset("half of P(Y)")
    'half of <math alttext="P(Y)"><mi>P</mi><mo ...>(</mo><mi>Y</mi><mo ...>)</mo></math>'
    >>> typeset("a < b")
    'a &lt; b'
    """
    done, at, search = list[str](), 0, 0
    if is_unreadable(text):
        search = len(text)
    while match := _OPENING.search(text, search):
        if found := _formula(text, match.start()):
            done.append(escape(text[at : match.start()], quote=False))
            done += [piece.to_html() for piece in found[0]]
            at = search = found[1]
        else:
            search = match.end()
    return "".join([*done, escape(text[at:], quote=False)])


def _formula(text: str, at: int) -> Found | None:
    """Read factors until something else comes."""
    pieces = list[Piece]()
    while found := _factor(text, start := _past_blanks(text, at)):
        parts, end = found
        pieces += [Piece("", text[at:start]) + parts[0], *parts[1:]]
        at = end
    return (pieces, at) if pieces else None


def _factor(text: str, at: int) -> Found | None:
    if match := _WORDS.match(text, at):
        sign = draw_operator("∑" if match[1] == "sum" else "min/max", large=True)
        return [_under(sign, match[2], match[0])], match.end()
    if match := _SUM.match(text, at):
        return [_under(draw_operator("∑", large=True), match[1], match[0])], match.end()
    if match := _BETWEEN.match(text, at):
        sign = draw_operator("×" if match[0] == "x" else "/", wide=True)
        return [Piece(sign, match[0])], match.end()
    if match := _CALL.match(text, at):
        return _call(text, match)
    if text[at : at + 1] == "[":
        return _bracketed(text, at)
    return _group(text, at) if text[at : at + 1] == "(" else None


def _under(sign: str, over: str, source: str) -> Piece:
    return Piece(f"<munder>{sign}<mrow>{draw_names(over)}</mrow></munder>", source)


def _group(text: str, at: int) -> Found | None:
    """Read a formula in brackets, or a range such as ``[0 to 1]``."""
    close = _CLOSING[text[at]]
    inside = _formula(text, at + 1)
    end = _until(text, at + 1, close)
    if end == len(text):
        return None
    if inside is None or _past_blanks(text, inside[1]) != end:
        if not re.fullmatch(r"[\d.]+ to [\d.]+", text[at + 1 : end]):
            return None
        inside = [Piece(f"<mtext>{text[at + 1 : end]}</mtext>", text[at + 1 : end])], end
    pieces, stop = inside
    pieces[0] = Piece(draw_operator(text[at]), text[at]) + pieces[0]
    pieces[-1] += Piece(draw_operator(close), text[stop : end + 1])
    return pieces, end + 1


def _bracketed(text: str, at: int) -> Found | None:
    """Read ``[...]``, which is the upper part of a fraction when ``/ [...]`` follows."""
    top = _group(text, at)
    if top is None or text[top[1] : top[1] + 4] != " / [":
        return top
    bottom = _group(text, top[1] + 3)
    if bottom is None:
        return top
    shown = "".join(f"<mrow>{_bare(pieces)}</mrow>" for pieces, _ in (top, bottom))
    return [Piece(f"<mfrac>{shown}</mfrac>", text[at : bottom[1]])], bottom[1]


def _bare(pieces: Sequence[Piece]) -> str:
    """Join what stands between brackets; the line of a fraction replaces them."""
    whole = "".join(piece.math for piece in pieces)
    return whole.removeprefix(draw_operator("[")).removesuffix(draw_operator("]"))


def _call(text: str, match: re.Match[str]) -> Found | None:
    """Read ``P(...)`` and its like: variables, values, and more of the kind."""
    close = _CLOSING[match[2]]
    pieces, at = [Piece(_letter(match[1]) + draw_operator(match[2]), match[0])], match.end()
    first = True
    while (end := _until(text, at, f",|{close}")) < len(text):
        parts = _argument(text[at:end])
        pieces = [*pieces[:-1], pieces[-1] + parts[0], *parts[1:]] if first else pieces + parts
        pieces[-1] += Piece(draw_operator(text[end], wide=text[end] == "|"), text[end])
        at, first = end + 1, False
        if text[end] == close:
            source = text[match.start() : at]
            short = [sum(pieces[1:], pieces[0])]
            return (short if len(source) <= LONG else pieces), at
    return None


def _letter(name: str) -> str:
    """Set the letter before a bracket; a star marks the law of the population."""
    if name.endswith("*"):
        return f"<msup><mi>{name[:-1]}</mi><mo>∗</mo></msup>"
    return f"<mi>{name}</mi>"


def _argument(text: str) -> list[Piece]:
    """Read what stands between two commas."""
    bare = text.strip()
    match = _CALL.match(bare)
    found = _call(bare, match) if match else None
    if found is None or found[1] != len(bare):
        return [Piece(draw_item(bare), text)]
    before, _, after = text.partition(bare)
    first, *rest = found[0]
    pieces = [Piece("", before) + first, *rest]
    pieces[-1] += Piece("", after)
    return pieces


def _until(text: str, at: int, stops: str) -> int:
    """Find the first of ``stops`` outside quotes and brackets; the end when there is none."""
    depth, quote = list[str](), ""
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif not depth and char in stops:
            return at
        elif char in "\"'" and not (char == "'" and re.match(r"[\w')\"]", text[at - 1])):
            quote = char
        elif char in "([{":
            depth.append(char)
        elif char in ")]}" and depth:
            depth.pop()
        at += 1
    return len(text)


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] == " ":
        at += 1
    return at

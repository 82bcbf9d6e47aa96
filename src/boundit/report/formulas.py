"""Lines of words and formulas as HTML: formulas become MathML, which browsers draw themselves.

A formula is a row of pieces that never break; lines may break between them. Every piece keeps
the text it stands for as ``alttext``.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import assert_never

from boundit.core.formula import (
    Formula,
    Fraction,
    Group,
    Line,
    Over,
    Part,
    Sign,
    Term,
    Variable,
)

LONG = 30
"""How long a term may be before lines may break between its parts."""
_SCROLLED = '<span class="formula" role="group" aria-label="formula" tabindex="0">'
_LONGEST, _DEEPEST = 4000, 40
"""Beyond this a formula would not help the eye, and stays text."""


def draw_line(line: Line) -> str:
    """Write a line of words and formulas as HTML, formulas as MathML.

    >>> from boundit.core.formula import Sentence
    >>> draw_line(Sentence.of("half of ", Term("P", (Variable("Y"),))))
    'half of <math alttext="P(Y)"><mi>P</mi><mo ...>(</mo><mi>Y</mi><mo ...>)</mo></math>'
    >>> draw_line("a < b")
    'a &lt; b'
    """
    if isinstance(line, str) or _is_unreadable(str(line)):
        return escape(str(line), quote=False)
    return "".join(
        escape(part, quote=False)
        if isinstance(part, str)
        else "".join(piece.write_alone() for piece in _draw_formula(part))
        for part in line.parts
    )


def _is_unreadable(text: str) -> bool:
    """Tell whether a line is too long, or nested too deeply, to be drawn as formulas."""
    depths = accumulate((c in "([{") - (c in ")]}") for c in text)
    return len(text) > _LONGEST or max(depths, default=0) > _DEEPEST


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a formula that never breaks: its MathML, and the text it stands for."""

    math: str
    source: str

    def __add__(self, other: "_Piece") -> "_Piece":
        return _Piece(self.math + other.math, self.source + other.source)

    def write_alone(self) -> str:
        """Write one piece of a formula as MathML; a line may break at the blanks around it.

        One that is wider than a narrow page can be scrolled, by the keyboard too, for it never
        breaks.
        """
        source = self.source.strip()
        before, _, after = self.source.partition(source)
        drawn = f'<math alttext="{escape(source)}">{self.math}</math>'
        if len(source) > LONG:
            drawn = f"{_SCROLLED}{drawn}</span>"
        return f"{before}{drawn}{after}"


def _draw_formula(formula: Formula) -> list[_Piece]:
    """Draw a formula as pieces of MathML, between which a line may break."""
    match formula:
        case Term():
            return _draw_term(formula)
        case Over(sign, variables):
            shown = draw_operator("min/max" if sign == "min/max" else "∑", large=True)
            below = draw_operator(",").join(map(draw_variable, variables))
            drawn = f"<munder>{shown}<mrow>{below}</mrow></munder>"
            return [_Piece(drawn, str(formula))]
        case Fraction(top, bottom):
            rows = (
                f"<mrow>{_join_pieces(_draw_parts(part)).math}</mrow>" for part in (top, bottom)
            )
            return [_Piece(f"<mfrac>{''.join(rows)}</mfrac>", str(formula))]
        case Group(inside, square):
            return _enclose_pieces(_draw_parts(inside), "[]" if square else "()")
        case Sign(sign):
            return [_Piece(draw_operator({"x": "×"}.get(sign, sign), wide=True), sign)]
        case _:
            assert_never(formula)


def _draw_parts(parts: Iterable[Part]) -> list[_Piece]:
    """Draw the words and formulas inside a formula as pieces of MathML.

    Blanks go before what follows them.
    """
    pieces, blank = list[_Piece](), _Piece("", "")
    for part in parts:
        if isinstance(part, str) and not part.strip():
            blank += _Piece("", part)
            continue
        drawn = (
            [_Piece(draw_words(part), part)] if isinstance(part, str) else _draw_formula(part)
        )
        pieces += [blank + drawn[0], *drawn[1:]]
        blank = _Piece("", "")
    return pieces


def _draw_term(term: Term) -> list[_Piece]:
    """Draw a letter with its arguments, such as P(Y | X); a short one is a single piece."""
    opening, closing = term.brackets
    head = _Piece(draw_letter(term.letter) + draw_operator(opening), term.letter + opening)
    arguments = (*term.of, *term.given)
    pieces = list[_Piece]()
    for i, argument in enumerate(arguments, start=1):
        sign = closing if i == len(arguments) else "|" if i == len(term.of) else ","
        drawn = _draw_argument(argument)
        drawn[0] = _Piece("", " " * (i > 1)) + drawn[0]
        tail = draw_operator(sign, wide=sign == "|")
        drawn[-1] += _Piece(tail, f"{' ' * (sign == '|')}{sign}")
        pieces += drawn
    pieces = pieces or [_Piece(draw_operator(closing), closing)]
    pieces[0] = head + pieces[0]
    whole = _join_pieces(pieces)
    return [whole] if len(whole.source) <= LONG else pieces


def _draw_argument(argument: Variable | Term) -> list[_Piece]:
    """Draw one argument of a term: a variable, or a term such as do(X)."""
    if isinstance(argument, Term):
        return _draw_term(argument)
    return [_Piece(draw_variable(argument), str(argument))]


def _enclose_pieces(pieces: Sequence[_Piece], brackets: str) -> list[_Piece]:
    """Put brackets around the pieces of a formula, between which a line still may break."""
    opening, closing = (_Piece(draw_operator(sign), sign) for sign in brackets)
    if not pieces:
        return [opening + closing]
    inside = [opening + pieces[0], *pieces[1:]]
    return [*inside[:-1], inside[-1] + closing]


def _join_pieces(pieces: Iterable[_Piece]) -> _Piece:
    """Join pieces of a formula into one that never breaks."""
    return sum(pieces, _Piece("", ""))


_SUBSCRIPT = re.compile(r"([A-Za-z])_?(\d+)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_WORD = re.compile(r"[\w.]+")


def draw_variable(variable: Variable) -> str:
    """Write a variable as MathML, with primes or a value where it has them.

    >>> draw_variable(Variable("X1"))
    '<msub><mi>X</mi><mn>1</mn></msub>'
    >>> draw_variable(Variable("Z", primes=1))
    '<msup><mi>Z</mi><mo>′</mo></msup>'
    >>> draw_variable(Variable("day & night", value="'dusk'"))
    '<mtext>day &amp; night</mtext><mo lspace="0.1em" rspace="0.1em">=</mo><mtext>...'
    """
    shown = _draw_name(variable.name)
    if variable.primes:
        shown = f"<msup>{shown}{draw_operator('′' * variable.primes)}</msup>"
    return (
        f"{shown}{draw_operator('=')}{draw_words(variable.value)}" if variable.value else shown
    )


def draw_letter(letter: str) -> str:
    """Write the letter before a bracket as MathML; a star marks the population."""
    if letter.endswith("*"):
        return f"<msup><mi>{escape(letter[:-1])}</mi><mo>∗</mo></msup>"
    return f"<mi>{escape(letter)}</mi>"


def draw_words(text: str) -> str:
    """Write a number or words within a formula as MathML, words as upright text."""
    kind = "mn" if _NUMBER.fullmatch(text) else "mtext"
    return f"<{kind}>{escape(text)}</{kind}>"


def draw_operator(sign: str, *, wide: bool = False, large: bool = False) -> str:
    """Write a sign as MathML, with space beside it where it parts two sides.

    >>> draw_operator("(")
    '<mo stretchy="false">(</mo>'
    """
    shown = {"|": "∣"}.get(sign, sign)
    if large:
        return f'<mo movablelimits="false" lspace="0.1em" rspace="0.2em">{shown}</mo>'
    if wide:
        return f'<mo lspace="0.25em" rspace="0.25em" stretchy="false">{shown}</mo>'
    if sign == "=":
        return '<mo lspace="0.1em" rspace="0.1em">=</mo>'
    return f'<mo stretchy="false">{shown}</mo>' if sign in "()[]" else f"<mo>{shown}</mo>"


def _draw_name(name: str) -> str:
    """Write a variable's name as MathML: X1 with its number below, other words upright."""
    if match := _SUBSCRIPT.fullmatch(name):
        return f"<msub><mi>{match[1]}</mi><mn>{match[2]}</mn></msub>"
    if _NUMBER.fullmatch(name):
        return f"<mn>{name}</mn>"
    return f"<mi>{name}</mi>" if _WORD.fullmatch(name) else f"<mtext>{escape(name)}</mtext>"

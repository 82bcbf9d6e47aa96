r"""Formulas for pages: MathML, which browsers draw by themselves.

A formula is a row of pieces that never break; lines may break between them. Every piece keeps
the text it stands for as ``alttext``, so that nothing is lost to who cannot see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate

from boundit.estimand.language.expression import Expression
from boundit.estimand.language.render import Primed, write_text, write_with
from boundit.estimand.language.symbols import draw_item, draw_operator
from boundit.terms.names import write_name

LONG = 30
"""How long a term may be before lines may break between its parts."""
_LONGEST, _DEEPEST = 4000, 40
"""Beyond this a formula is no help to the eye, and stays text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a formula that never breaks: its MathML, and the text it stands for."""

    math: str
    source: str

    def __add__(self, other: "Piece") -> "Piece":
        return Piece(self.math + other.math, self.source + other.source)

    def to_html(self) -> str:
        """Write a piece by itself; the blanks around it are where a line may break.

        One that is wider than a narrow page can be scrolled, for it never breaks. Called by
        ``write_mathml`` for every piece of a formula.
        """
        source = self.source.strip()
        before, _, after = self.source.partition(source)
        drawn = f'<math alttext="{escape(source)}">{self.math}</math>'
        if len(source) > LONG:
            drawn = f'<span class="formula">{drawn}</span>'
        return f"{before}{drawn}{after}"


def write_mathml(expression: Expression) -> str:
    """Write a formula as MathML, piece by piece, for a page.

    The report calls it for the formulas of bound tables and recoveries.

    >>> from boundit.estimand.language.expression import P, Sum
    >>> write_mathml(Sum(frozenset("Z"), P(frozenset("Z"), logged=False)))
    '<math alttext="Σ_{Z}"><munder>...</munder></math> <math alttext="P(Z)">...</math>'
    """
    line = write_text(expression)
    if is_unreadable(line):
        return escape(line, quote=False)
    return "".join(piece.to_html() for piece in write_with(expression, _MathML()))


def is_unreadable(line: str) -> bool:
    """Tell whether a line is too long, or nested too deeply, to be worth drawing.

    Called by ``write_mathml``, and by the report for lines of text that hold formulas.
    """
    depths = accumulate((c in "([{") - (c in ")]}") for c in line)
    return len(line) > _LONGEST or max(depths, default=0) > _DEEPEST


Pieces = Sequence[Piece]


class _MathML:
    """Pieces of MathML, each with its text."""

    def write_term(
        self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool
    ) -> Pieces:
        """Draw ``P(of | given)``. Called by ``_write_part``."""
        bar = [*map(_write_variable, given), *(["S=1"] if logged else [])]
        return _draw_call("P", "()", list(map(_write_variable, of)), bar)

    def write_factor(self, of: Sequence[Primed]) -> Pieces:
        """Draw ``Q[of]``. Called by ``_write_part``."""
        return _draw_call("Q", "[]", list(map(_write_variable, of)), [])

    def write_sum(self, over: Sequence[Primed], body: Pieces) -> Pieces:
        """Draw a sum sign with its variables below. Called by ``_write_part``."""
        names = list(map(_write_variable, over))
        below = draw_operator(",").join(map(draw_item, names))
        sign = f"<munder>{draw_operator('∑', large=True)}<mrow>{below}</mrow></munder>"
        return [Piece(sign, f"Σ_{{{', '.join(names)}}}"), *_indent(body)]

    def write_product(self, factors: Sequence[Pieces]) -> Pieces:
        """Draw factors side by side. Called by ``_write_part``."""
        if not factors:
            return [Piece("<mn>1</mn>", "1")]
        first, *others = factors
        return [*first, *(piece for factor in others for piece in _indent(factor))]

    def write_ratio(self, top: Pieces, bottom: Pieces) -> Pieces:
        """Draw a fraction, which is one piece. Called by ``_write_part``."""
        above, below = sum(top[1:], top[0]), sum(bottom[1:], bottom[0])
        drawn = f"<mfrac><mrow>{above.math}</mrow><mrow>{below.math}</mrow></mfrac>"
        return [Piece(drawn, f"[{above.source}] / [{below.source}]")]

    def write_group(self, body: Pieces) -> Pieces:
        """Draw brackets around a factor. Called by ``_write_closed``."""
        pieces = list(body)
        pieces[0] = Piece(draw_operator("("), "(") + pieces[0]
        pieces[-1] += Piece(draw_operator(")"), ")")
        return pieces


def _draw_call(letter: str, brackets: str, of: Sequence[str], bar: Sequence[str]) -> Pieces:
    """Draw a letter with arguments, one piece if short. Called by ``_MathML.write_term``."""
    signs = [","] * (len(of) - 1) + ["|"] * bool(bar) + [","] * (len(bar) - 1) + [brackets[1]]
    pieces = [Piece(f"<mi>{letter}</mi>{draw_operator(brackets[0])}", letter + brackets[0])]
    blank = ""
    for argument, sign in zip([*of, *bar], signs, strict=True):
        gap = " " if sign == "|" else ""
        drawn = draw_item(argument) + draw_operator(sign, wide=sign == "|")
        pieces.append(Piece(drawn, f"{blank}{argument}{gap}{sign}"))
        blank = " "
    pieces[:2] = [pieces[0] + pieces[1]]
    whole = sum(pieces[1:], pieces[0])
    return [whole] if len(whole.source) <= LONG else pieces


def _write_variable(variable: Primed) -> str:
    """Spell a variable as text. Called by ``_MathML.write_term`` and its like."""
    return write_name(variable.name) + "'" * variable.primes


def _indent(pieces: Pieces) -> Pieces:
    """Put a blank before pieces. Called by ``_MathML.write_product``."""
    first, *others = pieces
    return [replace(first, source=f" {first.source}"), *others]

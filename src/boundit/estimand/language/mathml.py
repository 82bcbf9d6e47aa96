r"""Formulas for pages: MathML, which browsers draw by themselves.

A formula is a row of pieces that never break; lines may break between them. Every piece keeps
the text it stands for as ``alttext``, so that nothing is lost to who cannot see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate

from boundit.estimand.language.expression import Expression
from boundit.estimand.language.render import Primed, text, write
from boundit.estimand.language.symbols import item, operator
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

    def stand(self) -> str:
        """Write a piece by itself; the blanks around it are where a line may break.

        One that is wider than a narrow page can be scrolled, for it never breaks. Called by
        ``mathml`` for every piece of a formula.
        """
        source = self.source.strip()
        before, _, after = self.source.partition(source)
        drawn = f'<math alttext="{escape(source)}">{self.math}</math>'
        if len(source) > LONG:
            drawn = f'<span class="formula">{drawn}</span>'
        return f"{before}{drawn}{after}"


def mathml(expression: Expression) -> str:
    """Write a formula as MathML, piece by piece, for a page.

    The report calls it for the formulas of bound tables and recoveries.

    >>> from boundit.estimand.language.expression import P, Sum
    >>> mathml(Sum(frozenset("Z"), P(frozenset("Z"), logged=False)))
    '<math alttext="Σ_{Z}"><munder>...</munder></math> <math alttext="P(Z)">...</math>'
    """
    line = text(expression)
    if is_unreadable(line):
        return escape(line, quote=False)
    return "".join(piece.stand() for piece in write(expression, _MathML()))


def is_unreadable(line: str) -> bool:
    """Tell whether a line is too long, or nested too deeply, to be worth drawing.

    Called by ``mathml``, and by the report for lines of text that hold formulas.
    """
    depths = accumulate((c in "([{") - (c in ")]}") for c in line)
    return len(line) > _LONGEST or max(depths, default=0) > _DEEPEST


Pieces = Sequence[Piece]


class _MathML:
    """Pieces of MathML, each with its text."""

    def term(self, of: Sequence[Primed], given: Sequence[Primed], *, logged: bool) -> Pieces:
        """Draw ``P(of | given)``; called by ``_write``."""
        bar = [*map(_source, given), *(["S=1"] if logged else [])]
        return _call("P", "()", list(map(_source, of)), bar)

    def factor(self, of: Sequence[Primed]) -> Pieces:
        """Draw ``Q[of]``; called by ``_write``."""
        return _call("Q", "[]", list(map(_source, of)), [])

    def total(self, over: Sequence[Primed], body: Pieces) -> Pieces:
        """Draw a sum sign with its variables below; called by ``_write``."""
        names = list(map(_source, over))
        below = operator(",").join(map(item, names))
        sign = f"<munder>{operator('∑', large=True)}<mrow>{below}</mrow></munder>"
        return [Piece(sign, f"Σ_{{{', '.join(names)}}}"), *_space(body)]

    def row(self, factors: Sequence[Pieces]) -> Pieces:
        """Draw factors side by side; called by ``_write``."""
        if not factors:
            return [Piece("<mn>1</mn>", "1")]
        first, *others = factors
        return [*first, *(piece for factor in others for piece in _space(factor))]

    def ratio(self, top: Pieces, bottom: Pieces) -> Pieces:
        """Draw a fraction, which is one piece; called by ``_write``."""
        above, below = sum(top[1:], top[0]), sum(bottom[1:], bottom[0])
        drawn = f"<mfrac><mrow>{above.math}</mrow><mrow>{below.math}</mrow></mfrac>"
        return [Piece(drawn, f"[{above.source}] / [{below.source}]")]

    def group(self, body: Pieces) -> Pieces:
        """Draw brackets around a factor; called by ``_write_closed``."""
        pieces = list(body)
        pieces[0] = Piece(operator("("), "(") + pieces[0]
        pieces[-1] += Piece(operator(")"), ")")
        return pieces


def _call(letter: str, brackets: str, of: Sequence[str], bar: Sequence[str]) -> Pieces:
    """Draw a letter with arguments; a short one is one piece. Called by ``_MathML.term``."""
    signs = [","] * (len(of) - 1) + ["|"] * bool(bar) + [","] * (len(bar) - 1) + [brackets[1]]
    pieces = [Piece(f"<mi>{letter}</mi>{operator(brackets[0])}", letter + brackets[0])]
    blank = ""
    for argument, sign in zip([*of, *bar], signs, strict=True):
        gap = " " if sign == "|" else ""
        drawn = item(argument) + operator(sign, wide=sign == "|")
        pieces.append(Piece(drawn, f"{blank}{argument}{gap}{sign}"))
        blank = " "
    pieces[:2] = [pieces[0] + pieces[1]]
    whole = sum(pieces[1:], pieces[0])
    return [whole] if len(whole.source) <= LONG else pieces


def _source(variable: Primed) -> str:
    """Spell a variable as text; called by ``_MathML.term`` and its like."""
    return write_name(variable.name) + "'" * variable.primes


def _space(pieces: Pieces) -> Pieces:
    """Put a blank before pieces, where a line may break; called by ``_MathML.row``."""
    first, *others = pieces
    return [replace(first, source=f" {first.source}"), *others]

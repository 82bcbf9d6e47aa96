"""The smallest parts of a drawn formula as MathML: letters, variables, values and signs."""

import re
from html import escape

from boundit.core.formula import Variable

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
    """Write the letter before a bracket as MathML; a star marks the law of the population."""
    if letter.endswith("*"):
        return f"<msup><mi>{escape(letter[:-1])}</mi><mo>∗</mo></msup>"
    return f"<mi>{escape(letter)}</mi>"


def draw_words(text: str) -> str:
    """Write a number or words within a formula as MathML, words as upright text."""
    kind = "mn" if _NUMBER.fullmatch(text) else "mtext"
    return f"<{kind}>{escape(text)}</{kind}>"


def draw_operator(sign: str, *, wide: bool = False, large: bool = False) -> str:
    """Write a sign as MathML, with room beside it where it parts two sides.

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

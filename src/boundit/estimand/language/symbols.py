"""The smallest parts of a typeset formula: names, values and signs, as MathML."""

import re
from html import escape

_SUBSCRIPT = re.compile(r"([A-Za-z])_?(\d+)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_NAMED = re.compile(r"""([\w.]+|"(?:[^"\\]|\\.)*")('*)(?:=(.+))?""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")


def draw_item(text: str) -> str:
    """Typeset a variable, with primes or a value where it has them.

    >>> draw_item("X1")
    '<msub><mi>X</mi><mn>1</mn></msub>'
    >>> draw_item("Z'")
    '<msup><mi>Z</mi><mo>′</mo></msup>'
    >>> draw_item("not & known")
    '<mtext>not &amp; known</mtext>'
    """
    match = _NAMED.fullmatch(text)
    if match is None:
        return f"<mtext>{escape(text)}</mtext>"
    shown = draw_name(match[1])
    if match[2]:
        shown = f"<msup>{shown}{draw_operator('′' * len(match[2]))}</msup>"
    return shown if match[3] is None else f"{shown}{draw_operator('=')}{draw_value(match[3])}"


def draw_name(text: str) -> str:
    """Typeset a name: a letter with a number bears it below, other names stand upright."""
    if match := _SUBSCRIPT.fullmatch(text):
        return f"<msub><mi>{match[1]}</mi><mn>{match[2]}</mn></msub>"
    if _NUMBER.fullmatch(text):
        return f"<mn>{text}</mn>"
    if text.startswith('"'):
        plain = _ESCAPED.sub(r"\1", text[1:-1])
        return f"<mtext>{escape(plain)}</mtext>"
    return f"<mi>{escape(text)}</mi>"


def draw_names(text: str) -> str:
    """Typeset variables with commas between them."""
    return draw_operator(",").join(draw_item(part.strip()) for part in text.split(","))


def draw_value(text: str) -> str:
    """Typeset a level as Python spells it."""
    kind = "mn" if _NUMBER.fullmatch(text) else "mtext"
    return f"<{kind}>{escape(text)}</{kind}>"


def draw_operator(sign: str, *, wide: bool = False, large: bool = False) -> str:
    """Typeset a sign, with room beside it where it parts two sides.

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

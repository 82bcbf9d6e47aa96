"""Sentences with formulas in them, as values: text and pages are two renderings of one value.

A claim such as ``P(Y | do(X)) lies between min/max over Z of P(Y | X, Z, S=1)`` is a row of
words and formulas. ``str`` writes it on one line; ``boundit.report.formulas`` draws it.
Formulas are never parsed from text again.

>>> effect = Term("P", (Variable("Y"),), (Term("do", (Variable("X", value="1"),)),))
>>> print(Sentence.of(effect, " is ", Over("sum", (Variable("Z"),)), " ..."))
P(Y | do(X=1)) is sum over Z of ...
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from boundit.core.names import sort_names, write_name


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in a formula, with the primes that tell it apart, and its value if it has one.

    ``value`` is the level as Python writes it. ``bare`` leaves out the quotes that a name other
    than a plain word has in graph and query text.
    """

    name: str
    primes: int = 0
    value: str = ""
    bare: bool = False

    def __str__(self) -> str:
        name = self.name if self.bare else write_name(self.name)
        return f"{name}{self.primes * chr(39)}{'=' * bool(self.value)}{self.value}"


@dataclass(frozen=True, slots=True)
class Term:
    """A letter with arguments: ``P(y | do(x), S=1)``, ``P*(y)``, ``E[Y]``, ``Q[X]``."""

    letter: str
    of: "tuple[Variable | Term, ...]"
    given: "tuple[Variable | Term, ...]" = ()

    @property
    def brackets(self) -> tuple[str, str]:
        """The brackets around the arguments: square for a mean, ``E[Y]``, and for ``Q[X]``."""
        return ("[", "]") if self.letter in ("E", "Q") else ("(", ")")

    def __str__(self) -> str:
        bar = f" | {', '.join(map(str, self.given))}" if self.given else ""
        opening, closing = self.brackets
        return f"{self.letter}{opening}{', '.join(map(str, self.of))}{bar}{closing}"


@dataclass(frozen=True, slots=True)
class Over:
    """A sum, or the least and the greatest, over the values of variables."""

    sign: Literal["Σ", "sum", "min/max"]
    variables: tuple[Variable, ...]

    def __str__(self) -> str:
        names = ", ".join(map(str, self.variables))
        return f"Σ_{{{names}}}" if self.sign == "Σ" else f"{self.sign} over {names} of"


@dataclass(frozen=True, slots=True)
class Fraction:
    """One formula divided by another."""

    top: "tuple[Part, ...]"
    bottom: "tuple[Part, ...]"

    def __str__(self) -> str:
        return f"[{_write(self.top)}] / [{_write(self.bottom)}]"


@dataclass(frozen=True, slots=True)
class Group:
    """A formula in brackets."""

    inside: "tuple[Part, ...]"
    square: bool = False

    def __str__(self) -> str:
        inside = _write(self.inside)
        return f"[{inside}]" if self.square else f"({inside})"


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign between formulas: times, or divided by."""

    sign: Literal["x", "/"]

    def __str__(self) -> str:
        return self.sign


Formula: TypeAlias = Term | Over | Fraction | Group | Sign
Part: TypeAlias = str | Formula
"""Words, with their blanks, or a formula."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A row of words and formulas; words hold the blanks between them."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, *parts: "Part | Sentence") -> "Sentence":
        """Make one sentence of words, formulas and other sentences, one after another."""
        found = list[Part]()
        for part in parts:
            found += part.parts if isinstance(part, Sentence) else (part,)
        return cls(tuple(found))

    def __str__(self) -> str:
        return _write(self.parts)


Line: TypeAlias = str | Sentence
"""One line of an explanation: words alone, or with formulas among them."""


def join_line(*parts: Part | Sentence) -> Line:
    """Join words, formulas and sentences to one line: text if all are words, else a sentence.

    >>> join_line("for Z: ", "it is given")
    'for Z: it is given'
    """
    whole = Sentence.of(*parts)
    if all(isinstance(part, str) for part in whole.parts):
        return str(whole)
    return whole


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step to a claim, and the separation it rests on where there is one.

    The two sets ``between`` which every path is blocked by ``given``, in the graph without the
    edges ``into`` and ``out_of`` these variables; ``between`` is None for steps of other kinds.

    >>> step = StepRecord("Rule 3: do(X) may be dropped", (("Y",), ("X",)), ("Z",), into=("X",))
    >>> print(step.prefix("for Y: "))
    for Y: Rule 3: do(X) may be dropped
    """

    line: Line
    between: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    given: tuple[str, ...] = ()
    into: tuple[str, ...] = ()
    out_of: tuple[str, ...] = ()

    def prefix(self, *parts: Part | Sentence) -> "StepRecord":
        """Give the same step with words before its line, which say what the step is about."""
        return replace(self, line=join_line(*parts, self.line))

    def __str__(self) -> str:
        return str(self.line)


def name_variables(names: Iterable[str], *, bare: bool = False) -> tuple[Variable, ...]:
    """List variables in their order, as arguments of a formula.

    Called wherever a formula over a set of variables is made.

    >>> print(Term("Q", name_variables({"X10", "X2"})))
    Q[X2, X10]
    """
    return tuple(Variable(name, bare=bare) for name in sort_names(names))


def make_factor(names: Iterable[str]) -> Term:
    """Write the c-factor of some variables, ``Q[X, Y]``, as a formula.

    The c-factor of a set is its distribution under intervention on all other variables.

    >>> print(make_factor({"Y", "I1"}))
    Q[I1, Y]
    """
    return Term("Q", name_variables(names, bare=True))


def _write(parts: Iterable[Part]) -> str:
    """Write words and formulas on one line of text."""
    return "".join(map(str, parts))

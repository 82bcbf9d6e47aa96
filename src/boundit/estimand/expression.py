"""Formulas over the log and the population, as small frozen nodes.

Nodes hold fields; what one does with them are functions in other modules: ``simplify``,
``render``, ``boundit.counts.evaluate``. A variable that no enclosing ``Sum`` binds is *free*:
the formula is a function of its value.
"""

from dataclasses import dataclass
from typing import TypeAlias

from boundit.terms.names import Nodes


@dataclass(frozen=True, slots=True)
class P:
    """``P(of | given)``, of the logged rows (given S = 1 too) or else of the whole population."""

    of: Nodes
    given: Nodes = frozenset()
    logged: bool = True


@dataclass(frozen=True, slots=True)
class Sum:
    """``body`` summed over every value of ``over``; it hides outer values of the same names."""

    over: Nodes
    body: "Expression"


@dataclass(frozen=True, slots=True)
class Product:
    """All ``factors`` multiplied; the empty product is 1."""

    factors: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Ratio:
    """``top`` divided by ``bottom``."""

    top: "Expression"
    bottom: "Expression"


@dataclass(frozen=True, slots=True)
class CFactor:
    """``Q[of]``: the law of ``of`` when everything else is set by hand; not yet recovered."""

    of: Nodes


Expression: TypeAlias = P | Sum | Product | Ratio | CFactor

ONE = Product(())

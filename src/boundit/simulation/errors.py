"""What cannot be a model, and what a model cannot answer.

.. code-block:: text

    InvalidModel
    ├── MissingTable               a node without one
    ├── UnknownParent              a table that names a node without one
    ├── MalformedTable             the wrong shape, or what is no number
    ├── NotADistribution           negative, or does not add up to 1, and where
    ├── NotInGraph                 an influence that the graph denies
    └── SelectionNotBinary
    NeverSelected                  no row can be logged
    TooLarge                       an exact answer of too many numbers
"""

from boundit.terms.errors import BounditError, shortened
from boundit.terms.names import in_order, listed, spelled


class InvalidModel(BounditError):
    """Tables that cannot be a structural model."""


class MissingTable(InvalidModel):
    """A node of the graph that no table tells how to draw."""

    def __init__(self, name: str, known: frozenset[str]) -> None:
        self.name, self.known = name, in_order(known)
        held = shortened(listed(known)) or "none"
        super().__init__(f"node {name!r} has no table; there are tables for {held}")


class UnknownParent(InvalidModel):
    """A table that reads a variable nobody draws."""

    def __init__(self, node: str, parent: str, known: frozenset[str]) -> None:
        self.node, self.parent, self.known = node, parent, in_order(known)
        super().__init__(
            f"the table of {node!r} reads {parent!r}, which has no table of its own; "
            f"there are tables for {shortened(listed(known))}"
        )


class MalformedTable(InvalidModel):
    """A table that cannot be read."""

    def __init__(self, node: str, reason: str) -> None:
        self.node, self.reason = node, reason
        super().__init__(f"the table of {node!r} {reason}")


class NotADistribution(InvalidModel):
    """Numbers that are no probabilities, at some values of the parents."""

    def __init__(self, node: str, at: dict[str, int], found: list[float]) -> None:
        self.node, self.at, self.found = node, at, found
        where = (
            " at " + ", ".join(f"{name} = {value}" for name, value in at.items()) if at else ""
        )
        shown = ", ".join(f"{p:.6g}" for p in found)
        super().__init__(
            f"the table of {node!r}{where} is ({shortened(shown)}); "
            "probabilities are at least 0 and add up to 1"
        )


class NotInGraph(InvalidModel):
    """An influence in the tables that the graph denies."""

    def __init__(self, one: str, other: str, edge: str) -> None:
        self.one, self.other, self.edge = one, other, edge
        shown = f"{spelled(one)} {edge} {spelled(other)}"
        super().__init__(
            f"the tables need {shown}, which the graph does not have; add the edge"
        )


class SelectionNotBinary(InvalidModel):
    """A selection node with other levels than 0 and 1."""

    def __init__(self, name: str, n_levels: int) -> None:
        self.name, self.n_levels = name, n_levels
        super().__init__(
            f"the selection node {name!r} has {n_levels} levels; a row is logged (1) or not (0)"
        )


class NeverSelected(BounditError):
    """A log that no row can enter."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name!r} is never 1, so there is no log; raise its table above 0")


class TooLarge(BounditError):
    """An exact answer that would need too many numbers at once."""

    def __init__(self, names: frozenset[str], cells: int, limit: int) -> None:
        self.names, self.cells, self.limit = in_order(names), cells, limit
        super().__init__(
            f"an exact answer needs {cells} numbers over {shortened(listed(names))}, "
            f"and at most {limit} are made at once; ask about fewer variables, or sample"
        )


class NothingToSimulate(BounditError):
    """A simulation without rounds, runs or policies."""

    def __init__(self, *, rounds: int, runs: int, policies: int) -> None:
        super().__init__(
            f"a simulation needs at least one round, run and policy, "
            f"found rounds={rounds}, runs={runs} and {policies} policies"
        )

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
    ModelTooLarge                  an exact answer of too many numbers
    RewardNotBinary                a world that does not pay 0 or 1
    NoWorldFits                    models of a graph that are all too far from a log
    NothingToSimulate              no rounds, runs or policies
    PulledElsewhere                a policy that plays arms the world does not have
    NotAWorld                      a file that describes no world
    DamagedResult                  a file that is no saved simulation, or no longer
"""

from collections.abc import Mapping, Sequence

from boundit.terms.errors import BounditError, shorten
from boundit.terms.message import Option
from boundit.terms.names import join_names, sort_names, write_name


class InvalidModel(BounditError):
    """Tables that cannot be a structural model."""


class MissingTable(InvalidModel):
    """A node of the graph that no table tells how to draw."""

    def __init__(self, name: str, known: frozenset[str]) -> None:
        self.name, self.known = name, sort_names(known)
        held = shorten(join_names(known)) or "none"
        super().__init__(f"node {name!r} has no table; there are tables for {held}")


class UnknownParent(InvalidModel):
    """A table that reads a variable nobody draws."""

    def __init__(self, node: str, parent: str, known: frozenset[str]) -> None:
        self.node, self.parent, self.known = node, parent, sort_names(known)
        super().__init__(
            f"the table of {node!r} reads {parent!r}, which has no table of its own; "
            f"there are tables for {shorten(join_names(known))}"
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
            f"the table of {node!r}{where} is ({shorten(shown)}); "
            "probabilities are at least 0 and add up to 1"
        )


class NotInGraph(InvalidModel):
    """An influence in the tables that the graph denies."""

    def __init__(self, one: str, other: str, edge: str) -> None:
        self.one, self.other, self.edge = one, other, edge
        shown = f"{write_name(one)} {edge} {write_name(other)}"
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


class ModelTooLarge(BounditError):
    """An exact answer that would need too many numbers at once."""

    def __init__(self, names: frozenset[str], cells: int, limit: int) -> None:
        self.names, self.cells, self.limit = sort_names(names), cells, limit
        super().__init__(
            f"an exact answer needs {cells} numbers over {shorten(join_names(names))}, "
            f"and at most {limit} are made at once; ask about fewer variables, or sample"
        )


class NothingToSimulate(BounditError):
    """A simulation without rounds, runs or policies."""

    def __init__(self, *, rounds: int, runs: int, policies: int) -> None:
        super().__init__(
            f"a simulation needs at least one round, run and policy, "
            f"found rounds={rounds}, runs={runs} and {policies} policies"
        )


class RewardNotBinary(BounditError):
    """A world, or with None as levels a log, whose reward is something else than 0 or 1."""

    def __init__(self, name: str, n_levels: int | None) -> None:
        self.name, self.n_levels = name, n_levels
        found, fix = f"{n_levels} levels", "give it two levels, 1 with the chance it should pay"
        if n_levels is None:
            found = "other values than 0 and 1"
            fix = "write it as 0/1 in the log, such as 1 where it is above a threshold"
        super().__init__(f"the reward {name!r} has {found}, and a world pays 0 or 1; {fix}")


class NoWorldFits(BounditError):
    """A log that no drawn model of the graph fits."""

    def __init__(self, nearest: float, tolerance: float, left: Mapping[str, int]) -> None:
        self.nearest, self.tolerance, self.left = nearest, tolerance, dict(left)
        if left["too_far"]:
            reason = (
                f"the nearest is {nearest:.3g} away in total variation and {tolerance:.3g} is "
                "allowed; ask 'check' whether the log contradicts the graph, or raise "
            )
            super().__init__(
                "no model of the graph fits the log: ", reason, Option("tolerance")
            )
        elif left["unlogged"]:
            super().__init__(
                "no drawn model is logged at the given rate; widen ", Option("selection_rate")
            )
        else:
            super().__init__(
                "all drawn models that fit the log have a mean outside its bounds; ask 'check' "
                "whether the log contradicts the graph"
            )


class PulledElsewhere(BounditError):
    """A policy that plays arms the world does not have."""

    def __init__(self, policy: str, arm: object, arms: Sequence[object]) -> None:
        self.policy, self.arm = policy, arm
        held = shorten(", ".join(map(str, arms)))
        super().__init__(
            f"policy {policy!r} pulled {arm}, which is no arm of the world; it has {held}"
        )


class NotAWorld(BounditError):
    """A file that describes no world."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{self.path!r} describes no world: {shorten(reason)}")


class DamagedResult(BounditError):
    """A file that is no saved simulation, or no longer one."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{self.path!r} is no saved simulation of ours: {shorten(reason)}")

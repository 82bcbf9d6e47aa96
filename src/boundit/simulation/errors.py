"""Errors of models, environments and simulations."""

from collections.abc import Mapping

from boundit.core.errors import BounditError, shorten
from boundit.core.message import Option
from boundit.core.names import join_names, sort_names


class InvalidModel(BounditError):
    """Tables that are not a structural model, or a question that the model cannot answer."""


class ModelTooLarge(InvalidModel):
    """An exact answer that needs too many numbers at once."""

    def __init__(self, names: frozenset[str], cells: int, limit: int) -> None:
        self.names, self.cells, self.limit = sort_names(names), cells, limit
        super().__init__(
            f"An exact answer needs {cells} numbers over {shorten(join_names(names))}; the limit "
            f"is {limit}. Ask about fewer variables, or sample."
        )


class InvalidEnvironment(BounditError):
    """A model, query or file that does not describe an environment."""


class NoEnvironmentFits(BounditError):
    """No model of the graph reproduces the log."""

    def __init__(self, nearest: float, tolerance: float, left: Mapping[str, int]) -> None:
        self.nearest, self.tolerance, self.left = nearest, tolerance, dict(left)
        if left["too_far"]:
            super().__init__(
                f"No model of the graph fits the log: the nearest differs by {nearest:.3g} in "
                f"total variation, {tolerance:.3g} is allowed. Test the graph with check, or "
                "raise ",
                Option("tolerance"),
                ".",
            )
        elif left["unlogged"]:
            super().__init__(
                "No model has the given selection rate. Widen ", Option("selection_rate"), "."
            )
        else:
            super().__init__(
                "All models that fit the log have a mean outside its bounds. Test the graph "
                "with check."
            )


class InvalidSimulation(BounditError):
    """A simulation that cannot be run, or a file that is not a saved one."""

"""Why a formula has no numbers: each a class that writes its own one-line message."""

from collections.abc import Iterable

from boundit.estimand.language.expression import P
from boundit.terms.errors import BounditError
from boundit.terms.names import Nodes, join_names, sort_names


class CannotEvaluate(BounditError):
    """A formula that the given tables have no numbers for."""


class NeedsPopulation(CannotEvaluate):
    """A term of the whole population that no unselected table covers."""

    def __init__(self, term: P, tables: Iterable[Nodes]) -> None:
        self.term = term
        self.tables = tuple(tuple(sort_names(names)) for names in tables)
        held = "; ".join(join_names(names) for names in self.tables) or "none"
        super().__init__(
            f"{_write_term(term)} is of the whole population, which the log does not show; "
            f"give an external table over {join_names(term.of | term.given)} (given: {held})"
        )


class NotLogged(CannotEvaluate):
    """A term of the log about a variable the log does not have."""

    def __init__(self, name: str, axes: Iterable[str]) -> None:
        self.name, self.axes = name, tuple(axes)
        super().__init__(f"the log has no variable {name!r}; it has {join_names(self.axes)}")


class NotRecovered(CannotEvaluate):
    """A c-factor that is still a symbol."""

    def __init__(self, of: Nodes) -> None:
        self.of = of
        super().__init__(f"Q[{join_names(of)}] is a symbol without numbers; recover it first")


def _write_term(term: P) -> str:
    """Spell a term as ``P(a | b)`` for the message of an error."""
    bar = f" | {join_names(term.given)}" if term.given else ""
    return f"P({join_names(term.of)}{bar})"

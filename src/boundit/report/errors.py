"""What can be wrong with something to be drawn."""

from boundit.core.errors import BounditError, shorten


class CannotDraw(BounditError):
    """Something that gives no picture."""


class UnknownSuffix(CannotDraw):
    """A file whose name does not say in which format to draw."""

    def __init__(self, path: object, known: tuple[str, ...]) -> None:
        self.path = str(path)
        super().__init__(
            f"cannot tell from {shorten(self.path, 60)!r} how to save a figure; "
            f"its name must end in {' or '.join(known)}"
        )


class NothingToDraw(CannotDraw):
    """A figure without content."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"there is nothing to draw: {what}")


class UnevenCurve(CannotDraw):
    """A curve whose rounds, means and bands differ in length."""

    def __init__(self, name: str, lengths: tuple[int, ...]) -> None:
        self.name, self.lengths = name, lengths
        super().__init__(
            f"the curve {name!r} has {', '.join(map(str, lengths))} values; "
            "its places and heights must be equally many"
        )

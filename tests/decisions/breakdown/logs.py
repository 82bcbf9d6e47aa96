"""Laws of confounded arms, by how often each comes and what it earns."""

from collections.abc import Sequence

from boundit.counts.log import Log, read_log
from boundit.graph.text import parse

BOW = parse("X -> Y; X <-> Y")


def make_law(chances: Sequence[float], means: Sequence[float]) -> Log:
    """The exact law of arms 0, 1, ... with these chances and mean rewards."""
    cells = [
        (arm, y, e * (q if y else 1 - q))
        for arm, (e, q) in enumerate(zip(chances, means, strict=True))
        for y in (0, 1)
    ]
    columns = zip(*cells, strict=True)
    return read_log(dict(zip("XYp", map(list, columns), strict=True)), weight="p", exact=True)

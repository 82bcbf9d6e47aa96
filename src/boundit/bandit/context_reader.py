"""Reading the contexts of many calls: what was read before is known at once."""

from operator import itemgetter
from typing import final

from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Context

_PLAIN = frozenset({int, float, str, bool, type(None)})
"""Types whose values are levels as they are, and cheap to look up."""
_ROOM = 2**14


@final
class ContextReader:
    """A scene's way of reading contexts, with some memory; a copy remembers nothing."""

    def __init__(self, scene: BanditSpec) -> None:
        self._scene, self._known = scene, set[Context]()
        names = scene.context or ()
        # Of one name, itemgetter would give the bare value.
        self._named = itemgetter(*names) if len(names) > 1 else None

    def knows(self, context: Context) -> bool:
        """Tell whether a context, or an equal one, was read before."""
        try:
            return context in self._known
        except TypeError:
            return False

    def read(self, given: object) -> Context:
        """Read a context as the scene does.

        Equal is not enough to be known: ``(True,)`` equals ``(1,)`` and a decision shows what
        was given, so it is the given values that are returned.
        """
        values = given
        if type(given) is dict and self._named:
            try:
                values = self._named(given)
            except KeyError:
                values = None
        if type(values) is tuple and _PLAIN.issuperset(map(type, values)):
            if values in self._known:
                return values
            read = self._scene.read_context(given)
            if len(self._known) >= _ROOM:
                self._known.clear()
            self._known.add(read)
            return read
        return self._scene.read_context(given)

    def __reduce__(self) -> tuple[type["ContextReader"], tuple[BanditSpec]]:
        return ContextReader, (self._scene,)

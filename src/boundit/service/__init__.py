"""Policies behind a store that outlives the process: events, decisions, late rewards, replay.

The public names stand in ``__init__.pyi`` and load their modules when first used, since they
need the packages of the extra ``service``.
"""

from boundit.core.public_names import attach_names
from boundit.service.errors import name_extra

_find, __dir__, __all__ = attach_names(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a public name, or say which extra it needs."""
    try:
        return _find(name)
    except ImportError as error:
        raise name_extra(error) from None

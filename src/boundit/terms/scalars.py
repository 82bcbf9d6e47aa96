"""NumPy's scalars as the plain Python ones they stand for."""


def unwrap_scalar(value: object) -> object:
    """Take a value as Python has it; NumPy's scalars know how to become that.

    Whatever else is handed in, an array of several numbers for one, comes back as it is.
    Called by ``_pick_values`` for the levels of rows, ``_parse_value`` for those of arms and
    contexts, ``read_time_limit`` for a limit, and ``NarrowingBounds._find_cells`` for what a
    policy observes.

    >>> import numpy as np
    >>> unwrap_scalar(np.int64(2)), unwrap_scalar("two"), unwrap_scalar(np.str_("two"))
    (2, 'two', 'two')
    >>> unwrap_scalar(np.array([2, 3]))
    array([2, 3])
    """
    if hasattr(value, "item") and not getattr(value, "ndim", 0):
        found: object = value.item()
        return found
    return value

"""The rule of the contest, for compiled code: who leads, and who can still win."""

from boundit.bandit.compiled import inlined


@inlined
def leads(
    final: float,
    free: float,
    place: int,
    best_final: float,
    best_free: float,
    best_place: int,
) -> bool:
    """The higher index; among equals the higher one before the prior; then the first arm."""
    if final != best_final:
        return final > best_final
    if free != best_free:
        return free > best_free
    return place < best_place

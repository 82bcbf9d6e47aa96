"""The answer of a criterion: yes or no, by which clause, because of what."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a graphical claim holds, where it is stated, and what shows it.

    >>> print(Verdict(False, "Definition 2 (ii)", "a path stays open", ("I1", "<->", "Y")))
    no, by Definition 2 (ii): a path stays open [I1 <-> Y]
    """

    holds: bool
    clause: str
    reason: str
    witness: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        shown = f" [{' '.join(self.witness)}]" if self.witness else ""
        return f"{'yes' if self.holds else 'no'}, by {self.clause}: {self.reason}{shown}"

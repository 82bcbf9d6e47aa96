"""What may be stated of a log beside the graph: the options of ``derive_bounds``, by name."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from boundit.bounds.models.options import Models
from boundit.bounds.request import Profile
from boundit.terms.sampling import Inference


class Facts(TypedDict, total=False):
    """The options of ``derive_bounds`` that ``stress`` and ``bound_rivals`` pass on."""

    profile: Profile
    confidence: float | None
    inference: Inference
    external: Iterable[object]
    selection_rate: float | tuple[float, float] | None
    selection_limit: float | None
    outcome_range: tuple[float, float] | None
    domain: Mapping[str, Sequence[object]] | None
    max_condition: int
    time_limit: float | None
    memory_limit: int | str | None
    cluster: str | None
    confounding_limit: Mapping[str, float] | None
    models: str | Models | None

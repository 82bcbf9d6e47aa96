"""The public names of ``boundit.results``."""

from boundit.core.interval import Interval as Interval
from boundit.results.bound_table import BoundTable as BoundTable

__all__: list[str]

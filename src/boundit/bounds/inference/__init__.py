"""Three ways from rules and counts to endpoints, behind one interface."""

from boundit.bounds.inference.approximate import Approximate
from boundit.bounds.inference.base import Endpoints, Inference, PlugIn
from boundit.bounds.inference.exact import Exact

__all__ = ["Approximate", "Endpoints", "Exact", "Inference", "PlugIn"]

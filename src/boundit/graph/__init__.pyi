"""The public names of ``boundit.graph`` beside those of ``boundit`` itself."""

from boundit.core.verdict import Verdict as Verdict
from boundit.graph.causal_graph import project as project
from boundit.graph.groups import NodeGroup as NodeGroup
from boundit.graph.implications import Independence as Independence
from boundit.graph.separation import open_walk as open_walk
from boundit.graph.separators import minimal_separator as minimal_separator
from boundit.graph.separators import nearest_separator as nearest_separator

__all__: list[str]

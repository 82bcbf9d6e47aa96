"""The public names of ``boundit.graph`` beside those of ``boundit`` itself."""

from boundit.graph.groups import NodeGroup as NodeGroup
from boundit.graph.projection import project as project
from boundit.graph.separation import open_walk as open_walk
from boundit.graph.separators import minimal_separator as minimal_separator
from boundit.graph.separators import nearest_separator as nearest_separator

__all__: list[str]

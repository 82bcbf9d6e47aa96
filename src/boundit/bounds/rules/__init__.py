"""The rules that give bounds: when each holds by the graph, and its ends on counts."""

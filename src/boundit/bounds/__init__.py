"""What can be bounded? A graph, a query and counts in; a ``BoundTable`` with reasons out."""

"""Does the log contradict the graph? A graph and a log in; a ``CheckReport`` out."""

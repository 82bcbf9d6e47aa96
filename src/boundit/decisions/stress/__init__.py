"""What would overturn the bounds: edges that the graph leaves out, and rival graphs."""

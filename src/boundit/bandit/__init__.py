"""How to act: bounds, features and rewards in, a ``Decision`` out."""

"""A causal graph as an SVG drawing."""

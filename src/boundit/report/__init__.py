"""What do we tell, and why? Tables of bounds, graphs and records in; pages and figures out.

It computes nothing of its own. ``render_page`` and ``write_bound_page`` write one HTML file
that needs no network; ``draw_intervals``, ``draw_curves`` and ``draw_sensitivity`` draw
figures; ``draw_graph`` draws a causal graph; ``draw_line`` draws formulas among words. Figures
and curves need ``boundit[plot]``; pages of bounds and answers, graphs and formulas nothing.
"""

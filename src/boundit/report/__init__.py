"""What do we tell, and why? Tables of bounds, graphs and records in; pages and figures out.

A drawing room: it computes nothing of its own. ``page`` and ``bound_page`` write one HTML file
that needs no network; ``intervals``, ``curves`` and ``sensitivity`` draw figures; ``graph_svg``
draws a causal graph; ``mathml`` typesets our formulas. Figures and pages need
``boundit[report]``; graphs and formulas need nothing.
"""

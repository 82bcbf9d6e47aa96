"""Reports: tables of bounds, graphs and records in; pages, charts and figures out.

A ``Page`` has sentences and sections; it is written as one HTML file that needs no network, or
as a piece of a notebook. Charts, graphs and formulas are SVG and MathML. Only ``plot`` needs
matplotlib, the extra ``boundit[plot]``.
"""

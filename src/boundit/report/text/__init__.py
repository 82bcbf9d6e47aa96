"""Words and formulas on pages and drawings: shortened, wrapped, drawn."""

"""Words and formulas on pages and drawings: fitted, wrapped, typeset."""

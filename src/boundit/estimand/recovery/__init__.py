"""The search for a formula: what the log determines exactly, and by which steps."""

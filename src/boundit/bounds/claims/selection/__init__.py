"""Claims on means of a reweighted log, where something is known of selection."""

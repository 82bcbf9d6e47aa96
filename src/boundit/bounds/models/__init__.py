"""Adjustments by models: rewards and arms predicted for each row, where strata are too many."""

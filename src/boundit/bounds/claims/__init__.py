"""Claims: ends of whole sums, with one error for each end instead of one for each cell."""

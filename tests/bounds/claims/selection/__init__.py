"""Claims about sums, tested on every log of a few rows: the oracle of inference from counts."""

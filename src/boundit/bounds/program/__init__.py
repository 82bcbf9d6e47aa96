"""One certified program: Identify on a log known up to its reweighting, and response types."""

"""What was chosen where, as finished words and numbers."""

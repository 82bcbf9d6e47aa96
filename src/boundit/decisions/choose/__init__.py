"""Which arm, or which lottery over arms, to use in each context."""

"""What there is, for those who look, and whether it is as the events say."""

"""Which rows of the log count beside a policy's own rounds: cells of rewards, and weights."""

"""The policy that counts rows of the log and its own rounds in the same cells."""

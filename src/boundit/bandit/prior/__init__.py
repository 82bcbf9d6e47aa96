"""The bounds a policy starts from: how they are read, watched and dropped."""

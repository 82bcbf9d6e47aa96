"""When rewards come back in a simulation: late, in batches, or never."""

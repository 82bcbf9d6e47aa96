"""Many visitors at once: their contexts read, their decisions kept, their rewards checked."""

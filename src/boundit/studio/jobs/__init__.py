"""Long work in processes of its own, which show progress and can be ended."""

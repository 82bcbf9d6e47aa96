"""Results as pieces of HTML that stand in a notebook."""

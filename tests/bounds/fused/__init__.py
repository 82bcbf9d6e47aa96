"""Plans of cells and pools, held against the exact laws of random models."""

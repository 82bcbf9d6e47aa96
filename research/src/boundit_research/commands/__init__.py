"""Commands that ``boundit`` finds by their entry points, where this package is installed."""

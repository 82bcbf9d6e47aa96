"""HTML pages, composed of sections."""

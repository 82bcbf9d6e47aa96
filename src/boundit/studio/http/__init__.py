"""The studio's page and its calls, over HTTP on this machine alone."""

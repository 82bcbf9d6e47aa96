"""Tests of the service over HTTP, by a real server on a port of its own."""

"""Tests of the commands of the service."""

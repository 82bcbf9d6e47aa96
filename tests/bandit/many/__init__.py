"""Tests of the folder many."""

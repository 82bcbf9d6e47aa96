"""Whole runs at once: a finite environment, and the arrays that kernels play it on."""

"""What builds the documentation and keeps results; nothing here is installed."""

from pathlib import Path

ROOT = Path(__file__).parents[1]

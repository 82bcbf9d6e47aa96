"""What builds the documentation; nothing here is installed."""

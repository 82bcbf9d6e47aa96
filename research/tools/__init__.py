"""What keeps results and makes their pages; nothing here is installed."""

"""What one transaction does: commands in, events and answers out."""

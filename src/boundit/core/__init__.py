"""Names, errors, messages, limits on time and saved formats, which every package may use."""

"""Where events are kept: one SQLite file, or a PostgreSQL database."""

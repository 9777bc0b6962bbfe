"""What outlives a process: SQLite by default, PostgreSQL by a URL."""

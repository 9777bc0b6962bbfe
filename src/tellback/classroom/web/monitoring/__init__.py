"""Whether the service is well: health, metrics, and a log line for each request."""

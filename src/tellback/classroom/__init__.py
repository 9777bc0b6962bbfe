"""The classroom: people teach agents in a browser, as a service."""

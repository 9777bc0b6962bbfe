"""The pages on which people teach."""

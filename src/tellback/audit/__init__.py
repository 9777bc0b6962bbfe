"""Audit: which descriptions of a recording are probably wrong."""

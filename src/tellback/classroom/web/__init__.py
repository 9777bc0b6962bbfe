"""The service: an API for programs, and pages for people."""

"""The classroom: people teach an agent in a browser, and programs reach it over HTTP.

Rooms, from the bottom: ``store`` (the log of each lesson, and all else that must outlive a
process), ``learning`` (the agent of a lesson, rebuilt from its log) and ``web`` (the API and the
pages). ``client`` is for programs elsewhere.
"""

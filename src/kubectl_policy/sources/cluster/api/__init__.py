"""Requests to an API server, which only read: objects, lists, watches, and the kinds that it serves."""

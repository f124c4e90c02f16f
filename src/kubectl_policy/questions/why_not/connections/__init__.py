"""Reasons why a connection is denied or allowed, and edits that would allow or deny it."""

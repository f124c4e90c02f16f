"""Findings of a change, next to those of its base: which are new, and which have one cause."""

"""Differences between two states, for every question that compares two."""

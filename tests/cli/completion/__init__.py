"""Completion."""

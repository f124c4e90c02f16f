"""Listeners, their certificates and their addresses."""

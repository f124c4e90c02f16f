"""Tests of what status answers."""

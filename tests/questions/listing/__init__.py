"""Tests of what get answers."""

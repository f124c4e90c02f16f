"""Tests of how lists are shown."""

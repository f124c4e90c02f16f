"""Tests of how descriptions are shown."""

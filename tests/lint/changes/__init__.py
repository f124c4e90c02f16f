"""Tests of `lint/changes`."""

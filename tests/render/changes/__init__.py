"""Tests of how differences are shown."""

"""Tests of the conditions that controllers would report."""

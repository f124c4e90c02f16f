"""Comparison of reported conditions with computed ones."""

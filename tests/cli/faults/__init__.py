"""Whole commands against a cluster that misbehaves."""

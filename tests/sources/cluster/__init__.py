"""Clusters as sources."""

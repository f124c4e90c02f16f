"""Descriptions of objects with their policies, and of policies with what they affect."""

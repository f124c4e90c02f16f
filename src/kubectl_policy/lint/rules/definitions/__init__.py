"""Definitions of policy kinds."""

"""Policies and their targets."""

"""Policies, policy kinds and objects of the hierarchy, a row each."""

"""Measurements of the command against budgets."""

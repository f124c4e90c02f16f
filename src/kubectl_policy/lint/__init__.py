"""Lint rules, their findings, and the report on them."""

"""Formats of answers: text for a terminal, tables, documents and templates, with input made harmless."""

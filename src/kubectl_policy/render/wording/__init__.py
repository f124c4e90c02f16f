"""Phrases that answers share: names, counts, scopes, reasons, settings, sections and headlines."""

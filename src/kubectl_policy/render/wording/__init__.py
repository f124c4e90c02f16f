"""The words that answers share: names, counts, scopes, reasons, settings, sections, first sentences."""

"""`diff` and `blast-radius` as text, tables and Markdown."""

"""`describe` as text and tables: objects field by field, policies target by target."""

"""`describe` for people and for programs."""

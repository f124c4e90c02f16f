"""`diff` and `blast-radius` for people and for programs."""

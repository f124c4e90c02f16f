"""`status` for people and for programs."""

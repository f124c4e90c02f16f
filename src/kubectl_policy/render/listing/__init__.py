"""`get` for people and for programs."""

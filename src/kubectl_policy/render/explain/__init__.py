"""`explain` for people and for programs."""

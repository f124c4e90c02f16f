"""`why-not` for people and for programs."""

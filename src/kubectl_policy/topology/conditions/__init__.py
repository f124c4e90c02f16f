"""The conditions that a conformant controller would report on objects of the hierarchy."""

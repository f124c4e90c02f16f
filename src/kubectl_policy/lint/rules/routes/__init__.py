"""Routes, and what they are attached to."""

"""References, and what permits them."""

"""What differs between two states, and what deleting an object would change."""

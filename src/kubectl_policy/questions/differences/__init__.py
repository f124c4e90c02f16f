"""What differs between two states of the world, for every question that compares two."""

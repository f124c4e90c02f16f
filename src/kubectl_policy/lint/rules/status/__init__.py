"""What controllers reported."""
